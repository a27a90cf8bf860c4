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

struct LaneOptions {
  std::int64_t max_threadblocks = 0;
  std::int32_t waiting = 2;  ///< see `LowerOptions`
  ThreadblockUse use = ThreadblockUse::spread;
};

/// Lanes in order of their connections: as few as the limit on steps allows, and
/// where spreading is asked for as many more as help, as long as no GPU has more than
/// `max_threadblocks`. Errors: T02, T03.
[[nodiscard]] Expected<IdVector<LaneId, PlacedLane>> place_lanes(
    const IdVector<MessageId, Message>& messages, const StepBounds& bounds, std::size_t ranks,
    const TargetLimits& target, const LaneOptions& options);

}  // namespace forestcoll::schedule
