// Which receptions are forwarded in the step that receives them, and the order that this takes.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/msccl/ends.hpp"
#include "schedule/msccl/lanes.hpp"
#include "schedule/msccl/waits.hpp"

namespace forestcoll::schedule {

/// A message, and the one that carries the same chunks on from its receiver.
struct Relay {
  MessageId received, sent;
};

/// Relays by the lanes of the two messages, which have the same channel: those that one step
/// (rcs, rrs, rrcs) could do if one threadblock had both lanes. A message is received in one of
/// them at most, and sent in one at most. In order of (received lane, sent lane, sent message).
struct RelayGroup {
  LaneId recv, send;
  std::vector<Relay> relays;
  std::size_t within_phase = 0;  ///< of the relays, those that go on up or go on down
};
/// `lanes` are of `ends`, `messages` of trees.
[[nodiscard]] std::vector<RelayGroup> find_relays(const IdVector<MessageId, Message>& messages,
                                                  const Ends& ends, const Waits& waits,
                                                  const IdVector<LaneId, PlacedLane>& lanes);

/// Steps that each rank has at least, nops not counted, whatever lanes there will be: one for each
/// message at either end, less those received that some message sent could be fused with.
/// `forwards`: whether any may be fused. Cost: O(messages).
[[nodiscard]] IdVector<Rank, std::int64_t> fewest_steps(
    const IdVector<MessageId, Message>& messages, const Waits& waits, std::size_t ranks,
    bool forwards);

/// What is done in one step, and when.
struct Fusion {
  IdVector<MessageId, MessageId> sent_as;      ///< by the message received; invalid: it is not
  IdVector<MessageId, MessageId> received_as;  ///< by the message sent
  IdVector<MessageId, std::int32_t> turn;      ///< threadblocks take their steps in this order
};

/// `relays` fused, but for those that would lead what was summed at a root back through a rank that
/// it came from. REQUIRES: each message is received in one of them at most and sent in one at most.
/// Cost: O(messages · log + waits).
[[nodiscard]] Fusion fuse(const IdVector<MessageId, Message>& messages, const Waits& waits,
                          const std::vector<Relay>& relays);

/// The same once it is known what is fused.
[[nodiscard]] IdVector<Rank, std::int64_t> fewest_steps(
    const IdVector<MessageId, Message>& messages, const Fusion& fusion, std::size_t ranks);

}  // namespace forestcoll::schedule
