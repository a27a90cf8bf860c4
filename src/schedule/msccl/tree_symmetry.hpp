// Symmetries that trees show by themselves.
#pragma once

#include <vector>

#include "forest/symmetry.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/id.hpp"

namespace forestcoll::schedule {

/// A symmetry of ranks, without nodes, and which tree each of its generators makes of which.
struct TreeSymmetry {
  std::vector<Symmetry::Generator> generators;
  std::vector<Action<TreeId>::Image> trees;
};

/// Numbers of ranks are read as digits (box, GPU; x, y, z), and one digit is turned by one: kept
/// are turns that make of the trees of every root those of another one, in both phases alike. Of
/// the lowest digits first, the most values a digit can have. Empty where there is none, or where
/// the trees of both phases have different roots or multiplicities. Cost: O(N · trees) for each
/// number of values that is tried, but most fail at the first trees.
[[nodiscard]] TreeSymmetry find_tree_symmetry(const CollectiveForest& forest);

}  // namespace forestcoll::schedule
