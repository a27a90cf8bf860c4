// The threadblocks that serve one group of segments, one on every rank.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "forestcoll/forest.hpp"
#include "schedule/mscclpp/block_builder.hpp"
#include "schedule/mscclpp/plan.hpp"
#include "schedule/mscclpp/segments.hpp"

namespace forestcoll::schedule {

inline constexpr std::size_t kMaxPlanOperations = 64;    // of a threadblock
inline constexpr std::size_t kMaxBlockChannels = 16;     // of a threadblock and kind
inline constexpr std::size_t kMaxOperationChannels = 8;  // of an operation
inline constexpr std::size_t kMaxPortChannels = 128;     // of a GPU

/// What all groups share.
struct PlanContext {
  const CollectiveForest& forest;
  const std::vector<Segment>& segments;
  const IdVector<Rank, std::int32_t>& box_of;
  bool in_place = true;
  bool any_buffers = false;
};

/// Appends to every GPU of `plan` the threadblock that serves these segments, which are all of
/// `count` chunks. Cost: O(segments · ranks · log).
void append_threadblocks(const PlanContext& context, std::span<const std::int32_t> group,
                         ExecutionPlan& plan);

}  // namespace forestcoll::schedule
