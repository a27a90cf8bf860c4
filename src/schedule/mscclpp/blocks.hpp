// The threadblocks that serve some segments, one on every rank that has a part in them.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "forestcoll/forest.hpp"
#include "schedule/mscclpp/block_builder.hpp"
#include "schedule/mscclpp/plan.hpp"
#include "schedule/mscclpp/segments.hpp"
#include "schedule/views.hpp"

namespace forestcoll::schedule {

inline constexpr std::size_t kMaxPlanOperations = 64;    // of a threadblock
inline constexpr std::size_t kMaxBlockChannels = 16;     // of a threadblock and kind
inline constexpr std::size_t kMaxOperationChannels = 8;  // of an operation
inline constexpr std::size_t kMaxPortChannels = 128;     // of a GPU

struct FirstRanks;

/// What all threadblocks share.
struct PlanContext {
  std::span<const GroupForest> groups;
  const std::vector<Segment>& segments;
  const Views& views;  ///< of the trees, where one group is all ranks in their order
  const IdVector<Rank, std::int32_t>& box_of;
  bool in_place = true;
  bool any_buffers = false;
  /// Threadblocks of a rank for the same segments, each for some levels: see `PlanShape`.
  std::int32_t pipeline_depth = 1;
  FirstRanks* first_ranks = nullptr;  ///< these alone are written; null: all

  /// Of all groups.
  [[nodiscard]] const CollectiveForest& forest() const { return *groups.front().forest; }
  [[nodiscard]] const GroupForest& group_of(const Segment& segment) const {
    return groups[segment.group];
  }
  [[nodiscard]] bool writes(Rank rank) const {
    return first_ranks == nullptr || views.is_first(rank);
  }
  /// The rank that is written for this one.
  [[nodiscard]] Rank stands_for(Rank rank) const {
    return first_ranks == nullptr ? rank : views.seen(rank, rank);
  }
};

/// Where a segment stands among all, as a rank sees it: symmetric ones see the same.
struct Place {
  Rank root;
  TreeId reduce, broadcast;
  std::int32_t turn = 0;

  auto operator<=>(const Place&) const = default;
};
[[nodiscard]] Place seen_from(Rank rank, const Segment& segment, const Views& views);

/// Appends to every GPU of `plan` that has a part in them the threadblocks that serve the segments
/// of these numbers, list number `list`, which are all of as many chunks: `pipeline_depth` at most.
/// Cost: O(segments · hops · log).
void append_threadblocks(const PlanContext& context, std::span<const std::int32_t> numbers,
                         std::int32_t list, ExecutionPlan& plan);

}  // namespace forestcoll::schedule
