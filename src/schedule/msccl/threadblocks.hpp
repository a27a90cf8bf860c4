// Which threadblock of which GPU carries which messages, on which channel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/schedule.hpp"
#include "schedule/msccl/fusion.hpp"
#include "schedule/msccl/lanes.hpp"

namespace forestcoll::schedule {

/// The lanes that one threadblock serves: one that it sends, one that it receives, or both, then
/// of the same channel.
struct BlockLanes {
  LaneId send, recv;
};

struct Threadblocks {
  IdVector<Rank, std::vector<BlockLanes>> of_rank;
  std::vector<Relay> relays;  ///< those whose lanes share a threadblock
};

struct ThreadblockLimits {
  std::int64_t most = 0;  ///< of a GPU
  ThreadblockUse use = ThreadblockUse::spread;
  std::int32_t instances = 1;  ///< that were asked for
};

/// Before any message is placed: a threadblock has one peer each way, so a rank needs as many as it
/// has others to send to, or to receive from. Errors: T01. Cost: O(trees · ranks + ranks²).
[[nodiscard]] Expected<void> refuse_many_peers(const CollectiveForest& forest, std::size_t ranks,
                                               const TargetLimits& target, std::int64_t most);

/// The threadblocks of every GPU; those that receive come first. `groups` are the relays that may
/// be fused. Errors: T01.
[[nodiscard]] Expected<Threadblocks> assign_threadblocks(const IdVector<LaneId, PlacedLane>& lanes,
                                                         const std::vector<RelayGroup>& groups,
                                                         std::size_t ranks,
                                                         const TargetLimits& target,
                                                         const ThreadblockLimits& limits);

}  // namespace forestcoll::schedule
