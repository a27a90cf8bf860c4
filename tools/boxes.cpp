#include "boxes.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace forestcoll::cli {

IdVector<NodeId, std::int32_t> boxes_of_nodes(const Topology& topology) {
  std::map<std::string, std::int32_t> numbers;
  IdVector<NodeId, std::int32_t> boxes;
  for (const auto& node : topology.nodes) {
    const auto next = static_cast<std::int32_t>(numbers.size());
    boxes.push_back(node.box.empty() ? -1 : numbers.try_emplace(node.box, next).first->second);
  }
  return boxes;
}

bool has_several_boxes(const Topology& topology) {
  return std::ranges::any_of(topology.ranks, [&](NodeId node) {
    return topology.nodes[node].box != topology.nodes[topology.ranks.front()].box;
  });
}

}  // namespace forestcoll::cli
