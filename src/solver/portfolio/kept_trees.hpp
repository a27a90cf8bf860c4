// What is left of previous trees.
#pragma once

#include "forestcoll/branching_forest.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/pack.hpp"

namespace forestcoll {

/// A tree stands for itself, whatever its multiplicity: by its phase, root, edges and paths.
/// `now` is a forest on `network`, in which links of the previous one may be gone.
/// Cost: that of sorting the edges of both.
[[nodiscard]] RepackStatistics kept_trees(const BranchingForest& previous,
                                          const BranchingForest& now, const Network& network);
[[nodiscard]] RepackStatistics kept_trees(const CollectiveForest& previous,
                                          const CollectiveForest& now, const Network& network);

}  // namespace forestcoll
