// From planned threadblocks to steps and dependencies.
#pragma once

#include <vector>

#include "forestcoll/schedule.hpp"
#include "schedule/addressing.hpp"
#include "schedule/plan.hpp"

namespace forestcoll::schedule {

/// The program of every rank. In each threadblock, steps are in the order of the messages, with the
/// nops that carry extra dependencies in front of the step that needs them. Threadblocks that
/// others wait for come first.
[[nodiscard]] IdVector<Rank, RankProgram> write_programs(
    const IdVector<MessageId, Message>& messages, const Waits& waits,
    const IdVector<LaneId, PlacedLane>& lanes,
    const IdVector<Rank, std::vector<ThreadblockPlan>>& threadblocks,
    const InPlaceAddressing& addressing);

}  // namespace forestcoll::schedule
