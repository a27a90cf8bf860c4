// A model of how long a schedule takes: to choose among schedules, not to predict.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "forestcoll/forest.hpp"
#include "forestcoll/schedule.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll {

/// What the model knows of a protocol. The figures are round numbers for GPUs of 2020 and later,
/// taken from nobody's measurement of this fabric.
struct ProtocolModel {
  std::string_view name;
  double message_us;       ///< from the end of a send to the beginning of its reception
  double step_us;          ///< of a threadblock for one step, however small
  double efficiency;       ///< the part of a link's bandwidth that is data
  double threadblock_gbs;  ///< what one threadblock moves at most, GB/s
  double bytes_per_pass;   ///< of each chunk that one pass over the program carries
};
/// Simple, LL and LL128.
[[nodiscard]] const std::array<ProtocolModel, 3>& protocol_models();

/// The latency of the links between two ranks, in microseconds, by (sender, receiver).
using PairLatencies = std::map<std::pair<Rank, Rank>, double>;
/// Of all pairs that the trees of `forest` join, by the slowest of their routes.
[[nodiscard]] PairLatencies pair_latencies(const CollectiveForest& forest,
                                           const Topology& topology);

/// Seconds for a buffer of `bytes` (of the whole collective). A pass over the program takes as
/// long as its longest chain of steps and messages; further passes follow as fast as the busiest
/// threadblock and the links allow. `algbw` is what the links carry, GB/s.
/// REQUIRES: `schedule` is free of deadlock. Cost: O(steps) memory and time.
[[nodiscard]] double estimated_seconds(const Schedule& schedule, const PairLatencies& latencies,
                                       double algbw, const ProtocolModel& protocol, double bytes);

}  // namespace forestcoll
