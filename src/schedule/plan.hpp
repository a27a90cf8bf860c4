// Which threadblock of which GPU carries which messages, on which channel.
#pragma once

#include <vector>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/schedule.hpp"
#include "schedule/lanes.hpp"

namespace forestcoll::schedule {

/// The lanes that one threadblock serves: one that it sends, one that it receives, or both, then
/// of the same channel.
struct ThreadblockPlan {
  LaneId send, recv;
};

/// The threadblocks of every GPU, `max_threadblocks` at most; those that receive come first.
/// Errors: T01.
[[nodiscard]] Expected<IdVector<Rank, std::vector<ThreadblockPlan>>> plan_threadblocks(
    const IdVector<LaneId, PlacedLane>& lanes, std::size_t ranks, const TargetLimits& target,
    std::int64_t max_threadblocks);

}  // namespace forestcoll::schedule
