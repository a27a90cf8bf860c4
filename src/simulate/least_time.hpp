// What a run of an event graph takes at least, without running it.
#pragma once

#include <span>

#include "simulate/event_graph.hpp"

namespace forestcoll::audit {

/// Seconds that `run_events` with a tolerance of zero cannot be below; with a tolerance, it can be
/// below by no more than that part. The largest of: the time that a link or worker needs for all
/// that crosses it; the longest chain of first rounds, every flow alone on its links; and for
/// activities that are done in a circle, as a threadblock's, all rounds of the circle.
/// Cost: linear in activities, waits and routes; some tenths of what one round takes to run.
[[nodiscard]] double least_seconds(const EventGraph& graph, std::span<const double> capacity);

}  // namespace forestcoll::audit
