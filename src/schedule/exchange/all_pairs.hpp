// Exchanges of everybody with everybody, in which all threadblocks share the sums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "forestcoll/schedule.hpp"

namespace forestcoll::schedule {

struct AllPairs {
  bool in_two = false;        ///< shots
  bool out_of_place = false;  ///< calls that leave their input as it is; else in place
};

/// Parts of a chunk that are sent in one step and summed apart, each by another threadblock; as
/// many operations are in flight where a part fills a pass, so no more than LL and LL128 have room
/// for.
[[nodiscard]] std::int64_t slices_of(std::size_t ranks);

/// Bytes of the whole buffer up to which Simple has room, where a pass carries `pass_bytes`: its
/// two operations are then all slices. None: any size.
[[nodiscard]] std::optional<std::int64_t> most_in_simple(std::size_t ranks, std::int32_t channels,
                                                         const AllPairs& shape,
                                                         std::int64_t pass_bytes);

/// The programs of an allreduce: on each of `channels` channels everybody sends its data into the
/// scratch of everybody else, then sums. In one shot that is all of it, summed in the order of the
/// ranks, so all get the same bits; in two everybody gets a part and hands its sum to all. A rank
/// has one threadblock for each partner and channel, which sends before it receives, and one more
/// for each channel where partners are fewer than slices. REQUIRES: two ranks or more.
[[nodiscard]] Schedule all_pairs(std::size_t ranks, std::int32_t channels, const AllPairs& shape,
                                 const TargetLimits& target);

}  // namespace forestcoll::schedule
