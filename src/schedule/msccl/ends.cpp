#include "schedule/msccl/ends.hpp"

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "schedule/root_chunks.hpp"

namespace forestcoll::schedule {
namespace {

Rank root_of(const IdVector<Rank, ChunkRange>& chunks, std::int64_t chunk) {
  const auto next =
      std::upper_bound(chunks.begin(), chunks.end(), chunk,
                       [](std::int64_t at, const ChunkRange& range) { return at < range.begin; });
  return Rank(static_cast<std::size_t>(next - chunks.begin()) - 1);
}

bool are_same(const Message& a, const Message& b) {
  return std::tie(a.src, a.dst, a.first_chunk) == std::tie(b.src, b.dst, b.first_chunk);
}

}  // namespace

Ends::Ends(const IdVector<MessageId, Message>& messages, const CollectiveForest& forest,
           const Views& views) {
  const std::size_t ranks = first_trees(forest).rank_count();
  for (std::size_t r = 0; r < ranks; ++r) {
    first_.push_back(views.seen(Rank(r), Rank(r)));
    is_first_.push_back(views.is_first(Rank(r)) ? 1 : 0);
  }
  const auto chunks = root_chunks(forest, ranks);
  // As `end` sees the message, which is one of its own.
  const auto seen = [&](Rank end, MessageId m) {
    Message image = messages[m];
    const Rank root = root_of(chunks, image.first_chunk);
    image.src = views.seen(end, image.src);
    image.dst = views.seen(end, image.dst);
    image.first_chunk +=
        static_cast<std::int32_t>(chunks[views.seen(end, root)].begin - chunks[root].begin);
    image.orbit = m.value;
    return image;
  };
  const auto add = [&](const Message& image, MessageId m) {
    images_.push_back(image);
    of_tree_.push_back(m);
    return MessageId(images_.size() - 1);
  };
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const MessageId m(i);
    const Message sent = seen(messages[m].src, m), received = seen(messages[m].dst, m);
    sent_.push_back(add(sent, m));
    received_.push_back(are_same(sent, received) ? sent_[m] : add(received, m));
  }
}

void Ends::gather(IdVector<Rank, std::int64_t>& sums) const {
  if (are_all()) return;
  IdVector<Rank, std::int64_t> of_first(sums.size(), 0);
  for (std::size_t r = 0; r < sums.size(); ++r) of_first[first_[Rank(r)]] += sums[Rank(r)];
  sums = std::move(of_first);
}

}  // namespace forestcoll::schedule
