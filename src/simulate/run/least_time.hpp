// What a run of a graph takes at least, without running it.
#pragma once

#include <vector>

#include "simulate/fabric/event_graph.hpp"

namespace forestcoll::simulate {

/// Seconds that `run_events` with a tolerance of zero cannot be below; with a tolerance, it can be
/// below by no more than that part. Every flow alone on its links, the largest of: the longest
/// chain of first rounds; for each link or worker the time that it needs for all that crosses it;
/// and for activities that are done in a circle, as a threadblock's, all rounds of the circle. Each
/// with the longest chain of first rounds that leads to it, and that of last rounds that follows.
/// Cost: linear in activities, waits and routes; some tenths of what one round takes to run.
[[nodiscard]] double least_seconds(const ClassGraph& classes);

/// Bytes that cross a link of each class, and the work of each worker. Cost: linear in activities
/// and routes.
[[nodiscard]] std::vector<double> link_loads(const ClassGraph& classes);

}  // namespace forestcoll::simulate
