// From placed lanes to steps and dependencies.
#pragma once

#include <vector>

#include "forestcoll/schedule.hpp"
#include "schedule/msccl/addressing.hpp"
#include "schedule/msccl/fusion.hpp"
#include "schedule/msccl/step_bounds.hpp"
#include "schedule/msccl/threadblocks.hpp"

namespace forestcoll::schedule {

/// What programs are written from.
struct Writing {
  const Ends& ends;
  const Waits& waits;
  const Fusion& fusion;
  const IdVector<LaneId, PlacedLane>& lanes;
  const Addressing& addressing;
  Addition addition = Addition::fused;
  bool acquires_outputs = false;  ///< of the target: name what a waiting step reads as output
  std::int32_t max_steps = 64;
  std::int32_t max_count = 71;
  std::int64_t max_elements = 4095;   ///< of XML, of those of one rank's threadblocks
  std::int64_t most_with_copies = 0;  ///< threadblocks of a rank: no more are made for copies
};

/// Whether what every threadblock does is in one order: false only where one program stands for
/// several, two of whose chains are images of one another in one threadblock. Then their order
/// depends on the numbers of the ranks. Cost: O(messages · log).
[[nodiscard]] bool take_turns(const Writing& writing,
                              const IdVector<Rank, std::vector<BlockLanes>>& threadblocks);

/// The program of every rank that is written. In each threadblock, steps are in the order of
/// `fusion.turn`, with the nops that carry extra dependencies in front of the step that needs them.
/// Copies within a rank have threadblocks of their own, or where there are too few to spare share
/// those with the least to do (copies.hpp): there they come first where they are sent, else last.
/// Threadblocks that others wait for come first.
[[nodiscard]] IdVector<Rank, RankProgram> write_programs(
    const Writing& writing, const IdVector<Rank, std::vector<BlockLanes>>& threadblocks);

}  // namespace forestcoll::schedule
