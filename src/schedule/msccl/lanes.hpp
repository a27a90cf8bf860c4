// Every connection's lanes, on channels.
#pragma once

#include <cstdint>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/schedule.hpp"
#include "schedule/msccl/connections.hpp"

namespace forestcoll::schedule {

using LaneId = Id<struct LaneTag>;

/// A lane in its place.
struct PlacedLane {
  Rank src, dst;
  std::int32_t channel = 0;
  Lane lane;
};

/// Lanes in order of their connections: as few as the limit on steps allows, and
/// where spreading is asked for as many more as help, as long as no GPU has more than
/// `max_threadblocks`, which stands for the number of `options`. Errors: T02, T03.
[[nodiscard]] Expected<IdVector<LaneId, PlacedLane>> place_lanes(
    const IdVector<MessageId, Message>& messages, const StepBounds& bounds, std::size_t ranks,
    const TargetLimits& target, std::int64_t max_threadblocks, const LowerOptions& options);

}  // namespace forestcoll::schedule
