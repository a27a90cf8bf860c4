// Trees without the switches that they end at.
#pragma once

#include <cstddef>
#include <vector>

#include "forestcoll/branching_forest.hpp"

namespace forestcoll::solver {

/// The trees of a phase without switches that pass nothing on (the first `ranks` of what trees span
/// are no switches), again and again until there are none, by the switches at which they branch
/// then. What is spanned because the other trees of its class branch there is of no use to a tree
/// that does not. Phases without such switches stay as they are. Cost: linear in the trees.
[[nodiscard]] std::vector<BranchingTrees> without_leaves(std::vector<BranchingTrees> phase,
                                                         std::size_t ranks);

}  // namespace forestcoll::solver
