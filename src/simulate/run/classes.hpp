// What does the same at the same time, simulated once.
#pragma once

#include <optional>
#include <span>

#include "simulate/fabric/event_graph.hpp"

namespace forestcoll::simulate {

/// The classes of the coarsest partition in which the activities of a class have the same costs,
/// wait in the same way for as many activities of every class, and put the same parts on as many
/// links of every class, and in which the links of a class have the same capacity and carry the
/// same parts of every class of activities (an equitable partition). Max–min fair rates are unique,
/// so by induction over time all activities of a class begin and end together, and a run of the
/// class graph takes the same time as one of `graph`, up to rounding. None where there are nearly
/// as many classes as activities. `capacity`: of the links of the fabric. Cost: O(n log n) in
/// activities, waits and parts of routes.
[[nodiscard]] std::optional<ClassGraph> class_graph(const EventGraph& graph,
                                                    std::span<const double> capacity);

}  // namespace forestcoll::simulate
