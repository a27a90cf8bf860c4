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

/// Which trees are looked for beside the best.
struct OurTreesAsked {
  /// Those of the highest rate alone, which costs what `synthesize` does.
  bool few = false;
  Effort of_low;  ///< for trees that are lower than those of the highest rate need be
};

/// Beside `best`: 1, 2, 4 … `scale::kMostTrees` trees per root, those of the highest rate, shares
/// in powers of two, and, of few GPUs, lower trees and such that send less between boxes. Each
/// once, and none that is `best`. Of a fabric within limits also those of all its links, at the
/// rate that the limits leave them. Cost: that of `synthesize`, some twenty times, side by side.
[[nodiscard]] std::vector<Synthesis> find_our_trees(const Fabric& fabric, Synthesis best,
                                                    const CompileOptions& options,
                                                    const OurTreesAsked& asked);

}  // namespace forestcoll::fastest
