#include "baseline/doors.hpp"

#include <algorithm>

namespace forestcoll::baseline {

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
