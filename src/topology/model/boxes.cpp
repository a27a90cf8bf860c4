#include <algorithm>
#include <map>
#include <set>

#include "forestcoll/topology.hpp"

namespace forestcoll {

IdVector<NodeId, std::int32_t> boxes_of_nodes(const Topology& topology) {
  std::map<std::string, std::int32_t> numbers;
  IdVector<NodeId, std::int32_t> boxes;
  for (const auto& node : topology.nodes) {
    const auto next = static_cast<std::int32_t>(numbers.size());
    boxes.push_back(node.box.empty() ? -1 : numbers.try_emplace(node.box, next).first->second);
  }
  return boxes;
}

IdVector<Rank, std::int32_t> boxes_of_ranks(const Topology& topology) {
  const auto of_nodes = boxes_of_nodes(topology);
  IdVector<Rank, std::int32_t> boxes;
  for (const NodeId node : topology.ranks) boxes.push_back(of_nodes[node]);
  const auto last = std::ranges::max_element(of_nodes);
  std::int32_t next = last == of_nodes.end() ? 0 : *last + 1;
  const bool any = std::ranges::any_of(boxes, [](std::int32_t box) { return box >= 0; });
  if (!any) boxes.assign(boxes.size(), 0);
  for (std::int32_t& box : boxes) {
    if (box < 0) box = next++;
  }
  return boxes;
}

std::vector<std::string> names_of_boxes(const Topology& topology) {
  std::set<std::string> boxes;
  for (const NodeId node : topology.ranks) boxes.insert(topology.nodes[node].box);
  boxes.erase("");
  return {boxes.begin(), boxes.end()};
}

std::size_t box_count(const Topology& topology) {
  const auto boxes = boxes_of_ranks(topology);
  return std::set<std::int32_t>(boxes.begin(), boxes.end()).size();
}

bool has_several_boxes(const Topology& topology) {
  return box_count(topology) > 1;
}

}  // namespace forestcoll
