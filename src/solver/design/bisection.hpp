// The narrowest way to cut a wiring into halves.
#pragma once

#include <cstdint>

#include "solver/design/distances.hpp"

namespace forestcoll::solver {

/// The most nodes whose halves are all tried.
inline constexpr std::size_t kMostHalvedNodes = 20;

/// The fewest links that lead from a half of the nodes to the rest; halves of odd numbers are one
/// larger or smaller. REQUIRES: at most `kMostHalvedNodes` nodes. Cost: O(N · 2^N).
[[nodiscard]] std::int64_t narrowest_halves(const Neighbours& neighbours);

/// The same of the narrowest halves found by exchanging pairs of nodes (Kernighan, Lin 1970) from a
/// few beginnings: no fewer than there are. The same every time. Cost: O(N²) per pass, tens of
/// them.
[[nodiscard]] std::int64_t narrow_halves(const Neighbours& neighbours);

}  // namespace forestcoll::solver
