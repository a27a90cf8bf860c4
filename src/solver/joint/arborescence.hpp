// The cheapest way to reach all nodes from one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace forestcoll::solver {

/// What the cheapest arborescence from `root` costs that spans nodes 0 … n − 1, where an arc from u
/// to v costs `costs[u · n + v]` (Chu, Liu 1965; Edmonds 1967). REQUIRES: n² costs, none negative,
/// whose sum over any n − 1 fits. Cost: O(n²) per time that cycles are contracted, n times at most
/// and seldom more than log n times.
[[nodiscard]] std::int64_t arborescence_cost(std::vector<std::int64_t> costs, std::size_t n,
                                             std::size_t root);

}  // namespace forestcoll::solver
