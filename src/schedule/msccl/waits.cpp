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

#include <tbb/parallel_for.h>
#include <tbb/parallel_sort.h>

#include <algorithm>
#include <utility>

namespace forestcoll::schedule {

// The messages of one root's trees, which share no chunks with others, and their segments.
struct Waits::Block {
  std::uint32_t number = 0;
  std::vector<MessageId> messages;   // in global order
  std::vector<std::int32_t> bounds;  // where segments begin, ascending

  [[nodiscard]] std::size_t segment(std::int32_t chunk) const {
    return static_cast<std::size_t>(std::lower_bound(bounds.begin(), bounds.end(), chunk) -
                                    bounds.begin());
  }
};

namespace {

// All messages in the order of their first chunks.
std::vector<std::pair<std::int32_t, MessageId>> by_chunks(
    const IdVector<MessageId, Message>& messages) {
  std::vector<std::pair<std::int32_t, MessageId>> order;
  order.reserve(messages.size());
  for (std::size_t m = 0; m < messages.size(); ++m) {
    order.emplace_back(messages[MessageId(m)].first_chunk, MessageId(m));
  }
  tbb::parallel_sort(order.begin(), order.end());
  return order;
}

// Messages grouped so that different groups have no chunk in common.
std::vector<std::vector<MessageId>> disjoint_groups(const IdVector<MessageId, Message>& messages) {
  std::vector<std::vector<MessageId>> groups;
  std::int32_t end = -1;
  for (const auto& [first, m] : by_chunks(messages)) {
    if (first >= end) groups.emplace_back();
    groups.back().push_back(m);
    end = std::max(end, messages[m].end_chunk());
  }
  return groups;
}

}  // namespace

Waits::Waits(const IdVector<MessageId, Message>& messages, std::size_t ranks)
    : lists_(2 * messages.size()), chain_(messages.size(), 0) {
  auto groups = disjoint_groups(messages);
  items_.resize(groups.size());
  tbb::parallel_for(std::size_t{0}, groups.size(), [&](std::size_t g) {
    Block block{static_cast<std::uint32_t>(g), std::move(groups[g]), {}};
    std::sort(block.messages.begin(), block.messages.end());
    for (const MessageId m : block.messages) {
      block.bounds.push_back(messages[m].first_chunk);
      block.bounds.push_back(messages[m].end_chunk());
    }
    std::sort(block.bounds.begin(), block.bounds.end());
    block.bounds.erase(std::unique(block.bounds.begin(), block.bounds.end()), block.bounds.end());
    resolve_block(messages, block, ranks);
  });
}

void Waits::resolve_block(const IdVector<MessageId, Message>& messages, const Block& block,
                          std::size_t ranks) {
  const std::size_t segments = block.bounds.size();
  std::vector<MessageId>& items = items_[block.number];
  std::vector<MessageId> last_writer(ranks * segments);
  const auto cells = [&](Rank rank, const Message& message) {
    const std::size_t row = rank.index() * segments;
    return std::span(last_writer.data() + row + block.segment(message.first_chunk),
                     last_writer.data() + row + block.segment(message.end_chunk()));
  };
  const auto record = [&](std::size_t list, std::span<const MessageId> writers) {
    const std::size_t begin = items.size();
    for (const MessageId writer : writers) {
      if (writer.valid()) items.push_back(writer);
    }
    const auto first = items.begin() + static_cast<std::ptrdiff_t>(begin);
    std::sort(first, items.end());
    items.erase(std::unique(first, items.end()), items.end());
    lists_[list] = {block.number, static_cast<std::uint32_t>(begin),
                    static_cast<std::uint32_t>(items.size() - begin)};
  };
  for (const MessageId m : block.messages) {
    const Message& message = messages[m];
    record(2 * m.index(), cells(message.src, message));
    const auto written = cells(message.dst, message);
    if (message.reduces) record(2 * m.index() + 1, written);
    std::fill(written.begin(), written.end(), m);
    for (const auto& awaited : {at_sender(m), at_receiver(m)}) {
      for (const MessageId before : awaited) chain_[m] = std::max(chain_[m], chain_[before] + 1);
    }
  }
}

}  // namespace forestcoll::schedule
