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

std::vector<Rank> doors_of(const Boxes& boxes, std::size_t box, PathFinder& finder) {
  const auto& members = boxes.members[box];
  if (boxes.size() == 1) return members;
  // Any rank of another box will do: switches that lead to one lead out.
  std::vector<Rank> doors;
  for (const Rank r : members) {
    for (std::size_t other = 1; other < boxes.size(); ++other) {
      const auto& there = boxes.members[(box + other) % boxes.size()];
      const bool leads = std::any_of(there.begin(), there.end(), [&](Rank to) {
        return finder.arcs(r, to, Through::switches) > 0;
      });
      if (!leads) continue;
      doors.push_back(r);
      break;
    }
  }
  return doors;
}

}  // namespace forestcoll::baseline
