// Fewer and larger messages, where a target reads no more steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "forestcoll/forest.hpp"
#include "forestcoll/id.hpp"
#include "schedule/msccl/messages.hpp"

namespace forestcoll::schedule {

/// An order of the roots in which those that have the same place in their boxes follow one another:
/// where boxes are alike, their trees go the same ways in the boxes. `boxes`: as in `LowerOptions`.
[[nodiscard]] std::vector<Rank> roots_by_place(const Forest& forest,
                                               const IdVector<NodeId, std::int32_t>& boxes);

/// The messages in another order, edge by edge within each level, and up to `most` that follow one
/// another there as one: those of equal ends, level, phase, stream and rail that send what their
/// rank had from the beginning, chunks that are next to one another. No data moves at a later level
/// than before, but a rank can go on only when all of a message is there.
/// Cost: O(messages · log).
[[nodiscard]] IdVector<MessageId, Message> merge_messages(
    const IdVector<MessageId, Message>& messages, std::int32_t most, std::int32_t max_count,
    std::size_t ranks);

}  // namespace forestcoll::schedule
