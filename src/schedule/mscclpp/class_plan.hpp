// One plan for all ranks that a symmetry makes alike.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/id.hpp"
#include "schedule/mscclpp/plan.hpp"
#include "schedule/views.hpp"

namespace forestcoll::schedule {

struct PlanContext;

/// An end of a channel: the name of it, and of the end that it leads to. Where that is at a rank
/// which another stands for, the name of what it is the image of.
struct ChannelEnd {
  std::int32_t own = -1, other = -1;
};
/// By rank, kind and number of the channel.
using ChannelEnds = IdVector<Rank, std::array<std::vector<ChannelEnd>, kPlanChannels>>;

/// The first ranks of all orbits as `lower_to_plan` would have them; the others have buffers alone.
/// An image of a first rank does what that does, with images of its peers.
struct ClassPlan {
  ExecutionPlan plan;
  Views views;
  ChannelEnds ends;
};

/// What `lower_to_plan` makes of a forest, written for one rank of each orbit. None where the
/// symmetry leaves a rank where it is or exchanges ranks of one box with ranks of several, and
/// where threadblocks are not as symmetric as the trees. Errors: those of `lower_to_plan`. Cost:
/// O(E) for E tree edges, and O(M log M) for the M messages of first ranks.
[[nodiscard]] Expected<std::optional<ClassPlan>> lower_classes_to_plan(
    const CollectiveForest& forest, const IdVector<Rank, std::int32_t>& box_of,
    const PlanOptions& options);

/// A channel as its threadblock knows it: of the one that serves a list of segments at one place of
/// its rank's pipeline, to that of the peer at another place.
struct BlockChannelEnd {
  Rank rank, peer;
  std::int32_t list = 0, place = 0, other_place = 0;

  auto operator<=>(const BlockChannelEnd&) const = default;
};

/// What is written where first ranks stand for all.
struct FirstRanks {
  std::map<BlockChannelEnd, std::pair<PlanChannel, std::int32_t>> channels;  ///< of the GPU
  ChannelEnds ends;
  bool are_enough = true;  ///< as far as is known

  /// Says which ends lead to which. `lists`: of segments, symmetric.
  void name_ends(const PlanContext& context, std::span<const std::vector<std::int32_t>> lists);
};

/// Whether every element of the symmetry takes a box to a box.
[[nodiscard]] bool keep_boxes(const Views& views, const IdVector<Rank, std::int32_t>& box_of);

}  // namespace forestcoll::schedule
