// A barrier among the ranks of a box.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "forestcoll/id.hpp"
#include "schedule/mscclpp/plan.hpp"

namespace forestcoll::schedule {

/// Signals of one threadblock of each rank to those of the others: up to 9 ranks all tell all at
/// once; more tell, in round i, the rank 2^i further on what they have heard of (Hensgen, Finkel,
/// Manber 1988), since a threadblock has 16 channels and an operation 8. What a rank did before is
/// done when any rank goes on.
class Barrier {
 public:
  /// Adds memory channels of their own to the GPU and to the block. REQUIRES: at least two ranks,
  /// in the same order at each, `own` among them; each makes as many barriers, in the same order.
  Barrier(std::span<const Rank> ranks, Rank own, PlanGpu& gpu, PlanThreadblock& block);

  void append(std::vector<PlanOperation>& operations) const;

 private:
  struct Round {
    std::vector<std::int32_t> told, heard;  ///< in the block's list of channels
  };
  std::vector<Round> rounds_;
};

}  // namespace forestcoll::schedule
