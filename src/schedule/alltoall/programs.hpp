// The messages of an all-to-all as threadblocks and steps.
#pragma once

#include <cstdint>

#include "forestcoll/id.hpp"
#include "forestcoll/schedule.hpp"
#include "schedule/alltoall/messages.hpp"

namespace forestcoll::schedule {

struct AlltoallWriting {
  const AlltoallMessages& messages;
  std::int64_t ranks = 0, k = 1;     ///< chunks of a pair
  std::int32_t instances = 1;        ///< threadblocks that copy what a rank has for itself
  bool both_directions = false;      ///< one threadblock for what two ranks send each other
  bool gathers = false;              ///< all that a rank has for others is the same
  bool in_place = false;             ///< where it gathers: what a rank has is there already
  std::int64_t max_count = 1;        ///< chunks that a step copies
  std::int64_t max_per_channel = 1;  ///< senders of a rank on one channel, and receivers
};

/// The programs of all ranks. REQUIRES: where it gathers, nothing goes through other ranks. The
/// channel of a connection depends on how far apart its ranks are, in the same way for both
/// directions, so that no rank has too many on one. Cost: O(M log M).
[[nodiscard]] IdVector<Rank, RankProgram> write_alltoall(const AlltoallWriting& writing);

}  // namespace forestcoll::schedule
