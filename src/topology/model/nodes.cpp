#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "forestcoll/topology.hpp"
#include "forestcoll/topology_text.hpp"

namespace forestcoll {

std::string_view to_string(NodeType type) {
  switch (type) {
    case NodeType::compute:
      return "compute";
    case NodeType::switch_node:
      return "switch";
    case NodeType::relay:
      return "relay";
  }
  return "";
}

std::vector<NodeId> nodes_with_ids(const Topology& topology, const std::vector<std::string>& ids) {
  std::unordered_map<std::string_view, NodeId> by_id;
  by_id.reserve(topology.nodes.size());
  for (std::size_t v = 0; v < topology.nodes.size(); ++v) {
    by_id.emplace(topology.nodes[NodeId(v)].id, NodeId(v));
  }
  std::vector<NodeId> nodes;
  for (const std::string& id : ids) {
    const auto found = by_id.find(id);
    nodes.push_back(found == by_id.end() ? NodeId() : found->second);
  }
  return nodes;
}

std::string name_of(const SharedLimit& limit, const Topology& topology) {
  if (!limit.name.empty() || limit.uses.empty()) return limit.name;
  const SharedLimit::Use& first = limit.uses.front();
  return fmt::format("on {} -> {}{}", topology.nodes[first.src].id, topology.nodes[first.dst].id,
                     limit.uses.size() > 1 ? ", …" : "");
}

SwitchRoles switch_roles(const Topology& topology) {
  const auto is_able = [](const TopologyNode& node) {
    return node.enabled && (node.multicast || node.reduce);
  };
  if (std::ranges::none_of(topology.nodes, is_able)) return {};
  SwitchRoles roles;
  for (const TopologyNode& node : topology.nodes) {
    roles.push_back(is_able(node) ? SwitchRole{node.multicast, node.reduce, node.echo}
                                  : SwitchRole());
  }
  return roles;
}

}  // namespace forestcoll
