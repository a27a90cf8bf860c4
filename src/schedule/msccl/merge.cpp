// Trees of different roots often share edges: in a cluster of boxes that are alike, what one GPU of
// a box got from all its peers elsewhere goes on to the same neighbours. Chunks that lie next to
// one another and go over the same edge at the same level can be one message.
//
// Levels strictly increase along every chain of data, so any order within a level is a topological
// one. Sorted by edges, what can be one message stands together, and no message moves past another:
// whether a message brings the first part of a sum is as it was with the messages one by one. That
// must be the same for all chunks of one message, as it decides where they are read.
#include "schedule/msccl/merge.hpp"

#include <tbb/parallel_sort.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace forestcoll::schedule {
namespace {

auto edge_of(const Message& message) {
  return std::tuple(message.level, !message.reduces, message.src, message.dst, message.rail.number,
                    message.rail.count, message.stream);
}

bool follows(const Message& before, const Message& after) {
  return edge_of(before) == edge_of(after) && before.end_chunk() == after.first_chunk;
}

IdVector<MessageId, Message> by_edges(const IdVector<MessageId, Message>& messages) {
  std::vector<MessageId> order(messages.size());
  for (std::size_t m = 0; m < order.size(); ++m) order[m] = MessageId(m);
  tbb::parallel_sort(order.begin(), order.end(), [&](MessageId a, MessageId b) {
    return std::tuple(edge_of(messages[a]), messages[a].first_chunk, a) <
           std::tuple(edge_of(messages[b]), messages[b].first_chunk, b);
  });
  IdVector<MessageId, Message> result;
  result.reserve(order.size());
  for (const MessageId m : order) {
    result.push_back(messages[m]);
    result[MessageId(result.size() - 1)].orbit = -1;  // chunks that lie together, not images
  }
  return result;
}

}  // namespace

std::vector<Rank> roots_by_place(const Forest& forest,
                                 const IdVector<NodeId, std::int32_t>& boxes) {
  std::map<std::int32_t, std::size_t> met;  // ranks so far, by box
  std::vector<std::size_t> place;
  for (const NodeId node : forest.ranks()) {
    place.push_back(met[boxes.empty() ? -1 : boxes[node]]++);
  }
  std::vector<Rank> order;
  for (std::size_t r = 0; r < place.size(); ++r) order.emplace_back(r);
  std::stable_sort(order.begin(), order.end(),
                   [&](Rank a, Rank b) { return place[a.index()] < place[b.index()]; });
  return order;
}

MessageMerger::MessageMerger(const IdVector<MessageId, Message>& messages, std::int32_t max_count,
                             std::size_t ranks)
    : sorted_(by_edges(messages)), waits_(sorted_, ranks), max_count_(max_count) {}

IdVector<MessageId, Message> MessageMerger::merged(std::int32_t most) const {
  const auto may_join = [&](MessageId a, MessageId b) {
    return waits_.at_sender(a).empty() && waits_.at_sender(b).empty() &&
           waits_.at_receiver(a).empty() == waits_.at_receiver(b).empty();
  };
  IdVector<MessageId, Message> result;
  std::int32_t count = 0;  // in the last one
  for (std::size_t i = 0; i < sorted_.size(); ++i) {
    const Message& next = sorted_[MessageId(i)];
    if (count > 0 && count < most && follows(sorted_[MessageId(i - 1)], next) &&
        may_join(MessageId(i - 1), MessageId(i)) &&
        result[MessageId(result.size() - 1)].count + next.count <= max_count_) {
      result[MessageId(result.size() - 1)].count += next.count;
      ++count;
    } else {
      result.push_back(next);
      count = 1;
    }
  }
  return result;
}

}  // namespace forestcoll::schedule
