// Exchanges of everybody with everybody, in which all threadblocks share the sums.
#pragma once

#include <cstddef>
#include <cstdint>

#include "forestcoll/schedule.hpp"

namespace forestcoll::schedule {

/// Parts of a chunk that are sent in one step and summed apart, each by another threadblock; as
/// many operations are in flight where a part fills a pass, so no more than LL and LL128 have room
/// for.
[[nodiscard]] std::int64_t slices_of(std::size_t ranks);

/// The programs of an allreduce in place: on each of `channels` channels everybody sends its data
/// into the scratch of everybody else, then sums. In one shot that is all of it, summed in the
/// order of the ranks, so all get the same bits; in two everybody gets a part and hands its sum to
/// all. A rank has one threadblock for each partner and channel, which sends before it receives,
/// and one more for each channel where partners are fewer than slices. REQUIRES: two ranks or more.
[[nodiscard]] Schedule all_pairs(std::size_t ranks, std::int32_t channels, bool in_two,
                                 const TargetLimits& target);

}  // namespace forestcoll::schedule
