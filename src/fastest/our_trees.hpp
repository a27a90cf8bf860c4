// Our own trees that may be the fastest at some size.
#pragma once

#include <cstdint>
#include <vector>

#include "forestcoll/compile.hpp"
#include "forestcoll/fabric.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/synthesize.hpp"

namespace forestcoll::fastest {

/// Whether the trees join the same GPUs, whatever paths they take, and carry the same parts of what
/// their roots have. Cost: O(edges).
[[nodiscard]] bool have_same_edges(const CollectiveForest& a, const CollectiveForest& b);

/// `best`, and beside it: 1, 2, 4 … `scale::kMostTrees` trees per root, those of the highest rate,
/// shares in powers of two, and, of few GPUs, lower trees and such that send less between boxes.
/// Each once. `of_low`: the effort for trees that are lower than those of the highest rate need be.
/// Cost: that of `synthesize`, some twenty times, side by side.
[[nodiscard]] std::vector<Synthesis> find_our_trees(const Fabric& fabric, Synthesis best,
                                                    const CompileOptions& options, Effort of_low);

/// `best`, and those of the highest rate where they are others. Cost: that of `synthesize`.
[[nodiscard]] std::vector<Synthesis> find_few_of_our_trees(const Fabric& fabric, Synthesis best,
                                                           const CompileOptions& options);

}  // namespace forestcoll::fastest
