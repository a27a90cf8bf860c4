// Fewer and larger messages, where a target reads no more steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "forestcoll/forest.hpp"
#include "forestcoll/id.hpp"
#include "schedule/msccl/messages.hpp"
#include "schedule/msccl/waits.hpp"

namespace forestcoll::schedule {

/// An order of the roots in which those that have the same place in their boxes follow one another:
/// where boxes are alike, their trees go the same ways in the boxes. `boxes`: as in `LowerOptions`.
[[nodiscard]] std::vector<Rank> roots_by_place(const Forest& forest,
                                               const IdVector<NodeId, std::int32_t>& boxes);

/// Messages in another order, edge by edge within each level.
class MessageMerger {
 public:
  /// `max_count`: chunks of one message. Cost: O(messages · log).
  MessageMerger(const IdVector<MessageId, Message>& messages, std::int32_t max_count,
                std::size_t ranks);

  /// Up to `most` that follow one another as one: those of equal ends, level, phase, stream and
  /// rail that send what their rank had from the beginning, chunks that are next to one another. No
  /// data moves at a later level than before, but a rank can go on only when all of a message is
  /// there. Cost: O(messages).
  [[nodiscard]] IdVector<MessageId, Message> merged(std::int32_t most) const;

 private:
  IdVector<MessageId, Message> sorted_;
  Waits waits_;
  std::int32_t max_count_;
};

}  // namespace forestcoll::schedule
