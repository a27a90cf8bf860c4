#include "simulate/sources/flow_phase.hpp"

#include <string>
#include <string_view>
#include <unordered_map>

namespace forestcoll::simulate {

using audit::ForestFile;

std::vector<NodeId> nodes_by_name(const ForestFile& forest, const Topology& topology) {
  std::unordered_map<std::string_view, NodeId> ids;
  for (std::size_t v = 0; v < topology.nodes.size(); ++v) {
    ids.emplace(topology.nodes[NodeId(v)].id, NodeId(v));
  }
  std::vector<NodeId> nodes;
  for (const std::string& name : forest.names) {
    const auto found = ids.find(name);
    nodes.push_back(found == ids.end() ? NodeId() : found->second);
  }
  return nodes;
}

}  // namespace forestcoll::simulate
