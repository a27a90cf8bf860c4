// Exact arithmetic on what floating point guesses: what lengths prove, and what flows reach.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "forestcoll/alltoall.hpp"
#include "forestcoll/ratio.hpp"
#include "solver/alltoall/instance/instance.hpp"

namespace forestcoll::solver::alltoall {

enum class Rounding { down, up };

/// a · b, rounded so that its product with the `total` of a demand fits: a limit of an interval.
/// REQUIRES: a and b positive, `total` from 1 to `kMaxDemand`.
[[nodiscard]] std::optional<Ratio> short_product(const Ratio& a, const Ratio& b, std::int64_t total,
                                                 Rounding rounding);

/// Distances from one node, and the order in which they were settled.
struct Distances {
  IdVector<NodeId, std::int64_t> to;
  std::vector<NodeId> settled;  ///< from near to far; of equally near ones, fewer arcs first
};

/// Dijkstra's. REQUIRES: no length is negative, sums fit 64 bits. Cost: O(m log n).
[[nodiscard]] Distances distances_from(const Digraph& graph, const ArcLengths& lengths,
                                       NodeId source);

/// Σ capacity · length / Σ demand · distance, in capacity per unit of demand: no rate is higher.
/// Rounded up where it does not fit. Nothing where the lengths prove nothing or arithmetic
/// overflows. REQUIRES: the lengths are equal on every orbit of arcs, 0 or more.
/// Cost: O(sources · m log n).
[[nodiscard]] std::optional<Ratio> prove_at_most(const Instance& instance,
                                                 const ArcLengths& lengths);

/// Capacity out of a set of nodes over what its ranks have for the others: likewise, where the set
/// has something for the others. Cost: O(m + ranks²), without the square for a uniform demand.
[[nodiscard]] std::optional<Ratio> prove_by_cut(const Instance& instance,
                                                const std::vector<bool>& sends);

/// The rate at which the flows (by source of the instance, in `parts` of a unit) can run, in
/// capacity per unit of demand; rounded down where it does not fit. Nothing where they are no
/// flows for the demand or arithmetic overflows. Cost: O(sources · m).
[[nodiscard]] std::optional<Ratio> prove_reached(
    const Instance& instance, const std::vector<IdVector<ArcId, std::int64_t>>& flows,
    std::int64_t parts);

}  // namespace forestcoll::solver::alltoall
