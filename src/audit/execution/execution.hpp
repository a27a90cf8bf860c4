// A program, whatever its format, as the checks of its data see it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "audit/common/memory_map.hpp"
#include "audit/common/symbolic_memory.hpp"
#include "audit/execution/event_order.hpp"

namespace forestcoll::audit {

/// Chunks of one operand, of one rank.
struct Operand : ChunkRef {
  bool packets = false;   ///< of data and flags, which order them; always in scratch
  bool switched = false;  ///< through a switch channel
};

/// The chunks that an operation takes, in the order in which it adds them, and leaves: first chunks
/// of `count` chunks each.
struct Access {
  std::int32_t rank = -1;
  std::vector<Operand> reads, writes;
  std::int64_t count = 0;
  bool pairwise = false;        ///< each source goes to the destination of its own place
  bool adds_to_result = false;  ///< to what its destination holds
  bool sends = false;           ///< its result, as a message
  std::int32_t sender = -1;     ///< the operation whose message it takes, and adds to
};

/// Calls visit(chunk, location, strand) for every chunk of some operands of an access: an operand
/// at its offset, where it lies in memory, and which chunk of its operand it is.
template <class Visit>
void for_each_chunk(const Access& access, const std::vector<Operand>& operands,
                    const MemoryMap& memory, Visit&& visit) {
  for (Operand chunk : operands) {
    std::size_t at = memory.locate(chunk.rank, chunk.buffer, chunk.offset);
    for (std::int32_t strand = 0; strand < access.count; ++strand, ++chunk.offset, ++at) {
      visit(chunk, at, strand);
    }
  }
}

/// Operations, known by numbers, and the events that they lie between. The functions may be called
/// by several threads at once.
struct Execution {
  EventOrder events;  ///< what is over is there for others
  /// Where some events order execution alone, the order of that, with more waits: reads that are
  /// over in it are over, but what writes leave may be under way.
  std::optional<EventOrder> relaxed;
  /// Those that access memory, in a linear order of happens-before.
  std::vector<std::int32_t> operations;
  std::int32_t count = 0;  ///< all have numbers below it
  /// Overwrites `into`; nothing is read or written if the operation accesses no memory.
  std::function<void(std::int32_t operation, Access& into)> access;
  std::function<Span(std::int32_t operation)> span;
  /// Of each operation, the chain of messages that it belongs to; or empty, if none are sent. Chunk
  /// a of an operation comes before chunk b of a later one of its chain if a ≤ b.
  std::vector<std::int32_t> chain;

  [[nodiscard]] const EventOrder& in_time() const { return relaxed ? *relaxed : events; }
  /// Must `before` be over when `after` begins?
  [[nodiscard]] OrderQuery query(std::int32_t before, std::int32_t after) const {
    return {span(before).over, span(after).begins};
  }
};

}  // namespace forestcoll::audit
