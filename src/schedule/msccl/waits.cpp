// Data dependencies, by remembering for every rank and chunk which message wrote it last.
//
// Reads. What a rank sends, it must first have: a send waits for the last writers of its chunks at
// the sender. An addition reads and writes the sum at the receiver: it waits for the last writers
// there. So the additions at one rank form a chain in the order of the messages, and the order of
// reduction, hence every bit of the result, is fixed.
//
// Overwriting. A broadcast message may overwrite chunks at its receiver without waiting there. In
// allgather and broadcast nobody has touched them before. In allreduce they hold a partial sum that
// the receiver once sent towards the root; but the root began to send these chunks only after its
// last addition to them, which waited for the sums below, among them the one that the receiver
// sent. A message has been read from memory before it arrives anywhere, so the chain of messages
// up and down orders that read, and all additions before it, before the write.
//
// Chunks that are always written together are one segment; segments keep the table small when
// multiplicities are large.
#include "schedule/msccl/waits.hpp"

#include <algorithm>

namespace forestcoll::schedule {

// The messages of one root's trees, which share no chunks with others, and their segments.
struct Waits::Block {
  std::vector<MessageId> messages;
  std::vector<std::int32_t> bounds;  // where segments begin, ascending

  [[nodiscard]] std::size_t segment(std::int32_t chunk) const {
    return static_cast<std::size_t>(std::lower_bound(bounds.begin(), bounds.end(), chunk) -
                                    bounds.begin());
  }
};

namespace {

// Messages grouped so that different groups have no chunk in common, each in global order.
std::vector<std::vector<MessageId>> disjoint_groups(const IdVector<MessageId, Message>& messages) {
  std::vector<MessageId> by_chunk(messages.size());
  for (std::size_t m = 0; m < messages.size(); ++m) by_chunk[m] = MessageId(m);
  std::stable_sort(by_chunk.begin(), by_chunk.end(), [&](MessageId a, MessageId b) {
    return messages[a].first_chunk < messages[b].first_chunk;
  });
  std::vector<std::vector<MessageId>> groups;
  std::int32_t end = -1;
  for (const MessageId m : by_chunk) {
    if (messages[m].first_chunk >= end) groups.emplace_back();
    groups.back().push_back(m);
    end = std::max(end, messages[m].end_chunk());
  }
  for (auto& group : groups) std::sort(group.begin(), group.end());
  return groups;
}

}  // namespace

Waits::Waits(const IdVector<MessageId, Message>& messages, std::size_t ranks)
    : lists_(2 * messages.size()) {
  for (auto& group : disjoint_groups(messages)) {
    Block block{std::move(group), {}};
    for (const MessageId m : block.messages) {
      block.bounds.push_back(messages[m].first_chunk);
      block.bounds.push_back(messages[m].end_chunk());
    }
    std::sort(block.bounds.begin(), block.bounds.end());
    block.bounds.erase(std::unique(block.bounds.begin(), block.bounds.end()), block.bounds.end());
    resolve_block(messages, block, ranks);
  }
}

void Waits::resolve_block(const IdVector<MessageId, Message>& messages, const Block& block,
                          std::size_t ranks) {
  const std::size_t segments = block.bounds.size();
  std::vector<MessageId> last_writer(ranks * segments);
  const auto cells = [&](Rank rank, const Message& message) {
    const std::size_t row = rank.index() * segments;
    return std::span(last_writer.data() + row + block.segment(message.first_chunk),
                     last_writer.data() + row + block.segment(message.end_chunk()));
  };
  const auto record = [&](std::size_t list, std::span<const MessageId> writers) {
    const std::size_t begin = items_.size();
    for (const MessageId writer : writers) {
      if (writer.valid()) items_.push_back(writer);
    }
    const auto first = items_.begin() + static_cast<std::ptrdiff_t>(begin);
    std::sort(first, items_.end());
    items_.erase(std::unique(first, items_.end()), items_.end());
    lists_[list] = {begin, items_.size() - begin};
  };
  for (const MessageId m : block.messages) {
    const Message& message = messages[m];
    record(2 * m.index(), cells(message.src, message));
    const auto written = cells(message.dst, message);
    if (message.reduces) record(2 * m.index() + 1, written);
    std::fill(written.begin(), written.end(), m);
  }
}

}  // namespace forestcoll::schedule
