// Which messages must have arrived before another may be sent or added.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schedule/msccl/messages.hpp"

namespace forestcoll::schedule {

/// For each message, earlier messages to wait for; every list is in ascending order.
class Waits {
 public:
  /// Cost: O(messages · log + overlaps).
  explicit Waits(const IdVector<MessageId, Message>& messages, std::size_t ranks);

  /// Messages into the sender that wrote the data it sends.
  [[nodiscard]] std::span<const MessageId> at_sender(MessageId m) const {
    return at(2 * m.index());
  }
  /// Messages into the receiver whose sums this one adds to; empty unless it reduces.
  [[nodiscard]] std::span<const MessageId> at_receiver(MessageId m) const {
    return at(2 * m.index() + 1);
  }
  /// Messages that must come before it, one after the other: those that it waits for, and all that
  /// these do. Additions to one sum follow one another.
  [[nodiscard]] std::int32_t chain(MessageId m) const { return chain_[m]; }

 private:
  struct Block;
  void resolve_block(const IdVector<MessageId, Message>& messages, const Block& block,
                     std::size_t ranks);
  [[nodiscard]] std::span<const MessageId> at(std::size_t list) const {
    const List& found = lists_[list];
    if (found.size == 0) return {};
    return {items_[found.block].data() + found.begin, found.size};
  }

  struct List {
    std::uint32_t block = 0, begin = 0, size = 0;
  };
  std::vector<std::vector<MessageId>> items_;  // by block
  std::vector<List> lists_;                    // two per message: at the sender, at the receiver
  IdVector<MessageId, std::int32_t> chain_;
};

}  // namespace forestcoll::schedule
