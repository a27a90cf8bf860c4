// Cutting a connection into lanes is makespan scheduling; we take the classic rule "largest first,
// to the least loaded" (Graham), which is exact for equal messages and within 4/3 otherwise.
#include "schedule/connections.hpp"

#include <algorithm>
#include <tuple>

namespace forestcoll::schedule {

IdVector<ConnectionId, Connection> connect(const IdVector<MessageId, Message>& messages) {
  std::vector<MessageId> order(messages.size());
  for (std::size_t m = 0; m < messages.size(); ++m) order[m] = MessageId(m);
  const auto ends = [&](MessageId m) {
    const Message& message = messages[m];
    return std::tuple(message.src, message.dst, message.stream, message.rail.number);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](MessageId a, MessageId b) { return ends(a) < ends(b); });
  IdVector<ConnectionId, Connection> connections;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Message& message = messages[order[i]];
    if (i == 0 || ends(order[i - 1]) != ends(order[i])) {
      connections.push_back({message.src, message.dst, message.rail, {}});
    }
    connections[ConnectionId(connections.size() - 1)].messages.push_back(order[i]);
  }
  return connections;
}

std::optional<std::vector<Lane>> cut(const Connection& connection, std::size_t lanes,
                                     const IdVector<MessageId, Message>& messages,
                                     const StepBounds& bounds, std::int64_t max_steps) {
  std::vector<MessageId> by_size = connection.messages;
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](MessageId a, MessageId b) { return messages[a].count > messages[b].count; });
  std::vector<Lane> result(lanes);
  for (const MessageId m : by_size) {
    const std::int64_t sends = bounds.send(m), receives = bounds.recv(m);
    Lane* best = nullptr;
    for (Lane& lane : result) {
      const bool has_room =
          lane.send_steps + sends <= max_steps && lane.recv_steps + receives <= max_steps;
      if (has_room && (best == nullptr || lane.chunks < best->chunks)) best = &lane;
    }
    if (best == nullptr) return std::nullopt;
    best->messages.push_back(m);
    best->chunks += messages[m].count;
    best->send_steps += sends;
    best->recv_steps += receives;
  }
  for (Lane& lane : result) std::sort(lane.messages.begin(), lane.messages.end());
  return result;
}

std::int64_t fullest(std::span<const Lane> lanes) {
  std::int64_t chunks = 0;
  for (const Lane& lane : lanes) chunks = std::max(chunks, lane.chunks);
  return chunks;
}

}  // namespace forestcoll::schedule
