// The messages of a schedule: every tree edge, cut to what one step can carry, in one global order.
#pragma once

#include <cstdint>
#include <vector>

#include "forestcoll/forest.hpp"
#include "forestcoll/id.hpp"
#include "schedule/msccl/rails.hpp"
#include "schedule/views.hpp"

namespace forestcoll::schedule {

/// A message; ids follow the global order.
using MessageId = Id<struct MessageTag>;

/// `count` chunks from `first_chunk` on of the collective's whole buffer go from `src` to `dst`,
/// where they replace what is there or, if `reduces`, are added to it. One step at each end.
struct Message {
  Rank src, dst;
  std::int32_t first_chunk = 0;
  std::int32_t count = 1;
  bool reduces = false;
  std::int32_t stream = 0;  ///< messages of different streams share no threadblock
  Rails::Rail rail = {};    ///< messages of different rails share no channel
  std::int32_t level = 0;   ///< messages that must come before it, one after the other
  /// Messages that are images of one another under the symmetry of the trees have one number, and
  /// follow one another in the order; −1: alone.
  std::int32_t orbit = -1;

  [[nodiscard]] std::int32_t end_chunk() const { return first_chunk + count; }
};

/// How trees are cut into messages.
struct Cutting {
  std::int32_t max_count = 71;  ///< chunks of a message
  /// Of a tree with at least so many chunks, so many messages go over each edge: a rank passes on a
  /// message as a whole only, and what came first need not wait for the rest.
  std::int32_t parts = 1;
  std::int32_t instances = 1;  ///< parts of each tree's chunks, each a stream of its own
  bool per_tree = false;       ///< every tree is a stream of its own
};

/// The messages of both phases, of all trees or, with `of_firsts`, of those alone whose roots are
/// the first of their orbits (`rails` have to be of the same ones), in an order in which every
/// message follows those whose data it carries, and images of one another are together. What two
/// ranks that are images of one another send and receive is in the same order at both, but for
/// images of one message at one rank. REQUIRES: chunk numbers fit 32 bits; each root's
/// multiplicities sum to k times its weight, and are multiples of the number of instances. Cost:
/// O(N · trees + messages · log).
[[nodiscard]] IdVector<MessageId, Message> order_messages(const CollectiveForest& forest,
                                                          const Cutting& cutting,
                                                          const Rails& rails = {},
                                                          const Views& views = {},
                                                          bool of_firsts = false);

/// The same messages with the roots' chunks one after the other in this order of the roots, where
/// those of rank 0 came first. REQUIRES: of an allreduce, where no rank owns any part of the data;
/// `messages` are of `order_messages`. Cost: O(messages · log ranks).
[[nodiscard]] IdVector<MessageId, Message> with_roots_in_order(
    IdVector<MessageId, Message> messages, const CollectiveForest& forest,
    const std::vector<Rank>& roots);

}  // namespace forestcoll::schedule
