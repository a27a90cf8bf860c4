#include "baseline/boxes.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "forestcoll/codes.hpp"

namespace forestcoll::baseline {
namespace {

using Doors = std::vector<std::vector<Rank>>;  // by box

// As many in each box, and those of one place joined from box to box.
bool are_rails(const Doors& doors, PathFinder& finder) {
  for (std::size_t b = 0; b < doors.size(); ++b) {
    const std::vector<Rank>& next = doors[(b + 1) % doors.size()];
    if (doors[b].size() != next.size()) return false;
    for (std::size_t c = 0; c < next.size(); ++c) {
      if (finder.arcs(doors[b][c], next[c], Through::switches) == 0) return false;
    }
  }
  return true;
}

// Of those that are not in `taken`; none where switches lead to no other.
std::optional<Rank> nearest(Rank from, const std::vector<Rank>& doors,
                            const std::vector<Rank>& taken, PathFinder& finder) {
  std::optional<Rank> best;
  std::int32_t least = 0;
  for (const Rank door : doors) {
    const std::int32_t arcs = finder.arcs(from, door, Through::switches);
    const bool is_taken = std::ranges::find(taken, door) != taken.end();
    if (is_taken || (arcs == 0 && door != from) || (best && arcs >= least)) continue;
    best = door;
    least = arcs;
  }
  return best;
}

// Those of one rail each, for each door of a box that has the fewest.
Doors matched(const Doors& doors, PathFinder& finder) {
  const std::vector<Rank>& fewest = *std::ranges::min_element(doors, {}, &std::vector<Rank>::size);
  Doors rails(doors.size());
  for (const Rank door : fewest) {
    std::vector<Rank> rail;
    for (std::size_t b = 0; b < doors.size(); ++b) {
      const auto found = nearest(door, doors[b], rails[b], finder);
      if (!found) break;
      rail.push_back(*found);
    }
    if (rail.size() < doors.size()) continue;
    for (std::size_t b = 0; b < doors.size(); ++b) rails[b].push_back(rail[b]);
  }
  return rails;
}

}  // namespace

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

Expected<Boxes> several_boxes(const Topology& topology, const Network& network) {
  Boxes boxes = group_boxes(topology, network);
  if (boxes.size() > 1) return boxes;
  return make_error(Code::B02, "all GPUs are in one box, and two levels need several",
                    "compare with one-shot, two-shot, or pat");
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

std::vector<std::vector<Rank>> doors_by_rail(const Boxes& boxes, PathFinder& finder) {
  Doors doors;
  for (std::size_t b = 0; b < boxes.size(); ++b) doors.push_back(doors_of(boxes, b, finder));
  if (boxes.size() == 1 || are_rails(doors, finder)) return doors;
  Doors rails = matched(doors, finder);
  if (!rails.front().empty()) return rails;
  const std::size_t least = std::ranges::min_element(doors, {}, &std::vector<Rank>::size)->size();
  for (auto& each : doors) each.resize(least);
  return doors;
}

}  // namespace forestcoll::baseline
