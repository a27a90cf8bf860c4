#include <unordered_map>

#include "forestcoll/topology.hpp"

namespace forestcoll {

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

}  // namespace forestcoll
