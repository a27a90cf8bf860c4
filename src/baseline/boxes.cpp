#include "baseline/boxes.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace forestcoll::baseline {

Boxes group_boxes(const Topology& topology, const Network& network) {
  Boxes boxes;
  std::map<std::string_view, std::int32_t> index;
  for (std::size_t r = 0; r < network.ranks.size(); ++r) {
    const std::string_view name = topology.nodes[network.ranks[r]].box;
    const auto [at, added] = index.try_emplace(name, static_cast<std::int32_t>(boxes.size()));
    if (added) boxes.members.emplace_back();
    boxes.members[static_cast<std::size_t>(at->second)].emplace_back(r);
  }
  boxes.box_of.assign(topology.nodes.size(), -1);
  if (index.contains("") || boxes.size() == 1) {
    std::vector<Rank> all;
    for (std::size_t r = 0; r < network.ranks.size(); ++r) all.emplace_back(r);
    boxes.members.clear();
    boxes.members.push_back(std::move(all));
    boxes.box_of.assign(topology.nodes.size(), 0);
    return boxes;
  }
  for (std::size_t v = 0; v < topology.nodes.size(); ++v) {
    const auto at = index.find(topology.nodes[NodeId(v)].box);
    if (at != index.end()) boxes.box_of[NodeId(v)] = at->second;
  }
  return boxes;
}

}  // namespace forestcoll::baseline
