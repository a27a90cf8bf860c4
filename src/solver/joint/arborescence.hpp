// The cheapest way to reach all nodes from one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace forestcoll::solver {

/// The cheapest arborescence from `root` that spans nodes 0 … n − 1, where an arc from u to v costs
/// `costs[u · n + v]` (Chu, Liu 1965; Edmonds 1967): by node, where it is reached from, and the
/// root from itself. REQUIRES: n² costs, none negative. Cost: O(n²) per time that cycles are
/// contracted, n times at most and seldom more than log n times.
[[nodiscard]] std::vector<std::size_t> cheapest_arborescence(const std::vector<std::int64_t>& costs,
                                                             std::size_t n, std::size_t root);

}  // namespace forestcoll::solver
