// Runs an event graph from its beginning to its end.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <stop_token>

#include "simulate/fabric/event_graph.hpp"

namespace forestcoll::simulate {

struct EventRunOptions {
  double tolerance = 0;
  /// Gives up beyond, and as soon as what has not begun takes its links that long.
  double most_seconds = std::numeric_limits<double>::infinity();
  std::stop_token stop = {};
  std::function<void(std::int64_t)> progress = {};  ///< activities ended so far, now and then
};

struct EventRunResult {
  double seconds = 0;
  std::int64_t ended = 0;   ///< activities, each time counted
  bool complete = false;    ///< false: stopped, late, or stuck
  bool late = false;        ///< takes longer than `most_seconds`
  std::int32_t stuck = -1;  ///< an activity that never began as often as it should
};

/// Every activity begins as soon as all that it waits for is there and its previous round has
/// ended. `capacity` is of the links, in bytes per second. Cost: O(log n) for each end and each
/// delayed token, and SharedLinks::share_out for each moment at which flows begin or end. The same
/// graph gives the same result, to the last bit.
[[nodiscard]] EventRunResult run_events(const EventGraph& graph, std::span<const double> capacity,
                                        const EventRunOptions& options);

}  // namespace forestcoll::simulate
