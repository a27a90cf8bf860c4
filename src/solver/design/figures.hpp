// Figures of a wiring that take a computation of their own, one file each.
#pragma once

#include <cstdint>
#include <optional>

#include "forestcoll/ratio.hpp"
#include "solver/design/distances.hpp"

namespace forestcoll::solver {

/// The most ports that `bfb_time` takes.
inline constexpr std::size_t kMostBfbPorts = 16;

/// The time of BFB in units of M/B, with `ports` links of B/ports per node (Zhao et al., NSDI
/// 2025): in step t every node u gets the blocks of all nodes at distance t, each from its
/// in-neighbours at distance t − 1 from the block's owner, in parts that load the busiest of u's
/// links least.
///     T = ports/N · Σ_t max_u U(u, t)
/// U(u, t) is a fractional assignment of blocks to links. By maximum flow and minimum cut it is
/// the largest, over sets W of in-neighbours, of (blocks that only links from W can bring) / (links
/// from W): all sets are tried. Nothing where a node has more than `kMostBfbPorts` in-neighbours.
/// REQUIRES: all nodes reach one another. Cost: O(N · (links + steps · d · 2^d)), d the
/// in-neighbours.
[[nodiscard]] std::optional<Ratio> bfb_time(const Neighbours& neighbours, std::size_t ports);

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
