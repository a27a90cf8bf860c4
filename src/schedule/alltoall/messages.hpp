// The messages of an all-to-all, in an order that cannot get stuck.
#pragma once

#include <cstdint>
#include <vector>

#include "forestcoll/alltoall.hpp"
#include "forestcoll/id.hpp"

namespace forestcoll::schedule {

/// One leg of some chunks of a pair. `level` is above those of the leg before and of the message
/// before on the same lane of the connection.
struct AlltoallMessage {
  Rank from, to;
  Rank src, dst;               ///< of the data
  std::int64_t first = 0;      ///< chunk of the pair's k
  std::int64_t count = 1;      ///< chunks
  std::int32_t previous = -1;  ///< the message that brings the data to `from`; −1: it is its own
  bool is_last = true;         ///< `to` is where the data belongs
  std::int32_t lane = 0;       ///< of the connection
  std::int32_t level = 0;
};

struct AlltoallMessages {
  std::vector<AlltoallMessage> all;  ///< a path's legs follow one another
  std::int32_t lanes = 1;            ///< of the connection that has most of them
};

/// Parts are cut into `instances` chunks each, and those of a path go in messages of `max_count`
/// chunks at most, one or more for each instance. A connection has as many lanes as instances, and
/// more where a lane would have more than `max_messages`, which take turns. They go by rounds, or
/// by legs where paths have none; of these, legs that have more legs behind them come first, then
/// those of pairs that are nearer in rank order: nobody is everybody's first. Cost: O(M log M).
[[nodiscard]] AlltoallMessages order_alltoall(const AlltoallRoutes& routes,
                                              const IdVector<NodeId, Rank>& rank_of,
                                              std::size_t ranks, std::int64_t max_count,
                                              std::int64_t max_messages, std::int32_t instances);

}  // namespace forestcoll::schedule
