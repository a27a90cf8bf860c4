// Exact flows in the proportions of inexact ones.
#pragma once

#include <cstdint>
#include <functional>

#include "solver/alltoall/instance/answer.hpp"
#include "solver/alltoall/instance/instance.hpp"

namespace forestcoll::solver::alltoall {

/// Into how many parts a unit of demand can be divided: nothing flows twice over an arc, so amounts
/// stay below 2^61.
[[nodiscard]] std::int64_t most_parts(const Instance& instance);

/// Into how many `routed` divides it best: a million, or fewer where amounts would not fit.
[[nodiscard]] std::int64_t parts_for_routing(const Instance& instance);

/// How much of a source's flow an arc carries, on any scale; 0 or more.
using Proportions = std::function<double(std::size_t source, ArcId arc)>;

/// Flows for the demand, in `parts`: what each node has to receive, for itself and for the nodes
/// behind it, comes over the arcs into it in those proportions, and where they are all 0, over the
/// shortest path. What proportions send in circles comes from nearer nodes in the end.
/// Cost: O(sources · m log n).
[[nodiscard]] Flows routed(const Instance& instance, const ArcLengths& lengths,
                           const Proportions& proportions, std::int64_t parts);

}  // namespace forestcoll::solver::alltoall
