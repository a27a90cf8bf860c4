// Ranks that are close together: sets that trees exchange as a whole.
#pragma once

#include <vector>

#include "forestcoll/id.hpp"
#include "solver/common/core.hpp"

namespace forestcoll::solver {

/// The ranks that hang together over the widest arcs, over these and the next narrower ones, and
/// so on, each set once: modules, boxes, racks. Sets of one rank and of more than half of all are
/// left out. Cost: O(m log m + N · levels), at most 16 levels.
[[nodiscard]] std::vector<std::vector<Rank>> wide_groups(const Core& core);

}  // namespace forestcoll::solver
