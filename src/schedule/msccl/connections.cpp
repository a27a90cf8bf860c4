// Cutting a connection into lanes: two ways, of which the one with the shorter periods is taken.
//
// In order: each lane takes messages that follow each other in the global order, and so wait for
// chains of about the same length. A lane whose messages wait for one another is idle in between,
// and a pass over the program cannot begin before the one before has ended on that lane: a
// reduction and the broadcast of its result in one lane leave links idle for most of the time. Sums
// of one chunk at one rank follow one another, so n children below one rank are a chain of n.
//
// Largest first, to the least loaded (Graham): exact for equal messages and within 4/3 otherwise,
// for many messages of unequal sizes.
#include "schedule/msccl/connections.hpp"

#include <tbb/parallel_sort.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace forestcoll::schedule {

namespace {

std::vector<Connection> by_ends(const IdVector<MessageId, Message>& messages) {
  std::vector<MessageId> order(messages.size());
  for (std::size_t m = 0; m < messages.size(); ++m) order[m] = MessageId(m);
  const auto ends = [&](MessageId m) {
    const Message& message = messages[m];
    return std::tuple(message.src, message.dst, message.stream, message.rail.number);
  };
  tbb::parallel_sort(order.begin(), order.end(), [&](MessageId a, MessageId b) {
    return std::pair(ends(a), a) < std::pair(ends(b), b);
  });
  std::vector<Connection> connections;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Message& message = messages[order[i]];
    if (i == 0 || ends(order[i - 1]) != ends(order[i])) {
      connections.push_back({message.src, message.dst, message.rail, {}});
    }
    connections.back().messages.push_back(order[i]);
  }
  return connections;
}

// Which connections carry images of one another, by the first of them.
std::vector<std::vector<std::size_t>> orbits_of(const std::vector<Connection>& connections,
                                                const IdVector<MessageId, Message>& messages) {
  std::vector<std::vector<std::size_t>> orbits;
  std::map<std::vector<std::int32_t>, std::size_t> known;
  for (std::size_t c = 0; c < connections.size(); ++c) {
    if (messages[connections[c].messages.front()].orbit < 0) {
      orbits.emplace_back(1, c);
      continue;
    }
    std::vector<std::int32_t> carried;
    for (const MessageId m : connections[c].messages) carried.push_back(messages[m].orbit);
    const auto [found, is_new] = known.try_emplace(std::move(carried), orbits.size());
    if (is_new) orbits.emplace_back();
    orbits[found->second].push_back(c);
  }
  return orbits;
}

// What nothing moves may send to many images, or receive from them.
bool have_different_ends(const std::vector<std::size_t>& orbit,
                         const std::vector<Connection>& connections) {
  std::set<Rank> senders, receivers;
  for (const std::size_t c : orbit) {
    senders.insert(connections[c].src);
    receivers.insert(connections[c].dst);
  }
  return senders.size() == orbit.size() && receivers.size() == orbit.size();
}

}  // namespace

IdVector<ConnectionId, Connection> connect(const IdVector<MessageId, Message>& messages) {
  std::vector<Connection> all = by_ends(messages);
  IdVector<ConnectionId, Connection> connections;
  connections.reserve(all.size());
  std::int32_t orbits = 0;
  for (const auto& orbit : orbits_of(all, messages)) {
    const bool alone = !have_different_ends(orbit, all);
    for (const std::size_t c : orbit) {
      const bool is_first = c == orbit.front();
      all[c].orbit = alone || is_first ? orbits++ : orbits - 1;
      connections.push_back(std::move(all[c]));
    }
  }
  return connections;
}

namespace {

class Cutter {
 public:
  Cutter(const Connection& connection, std::size_t lanes,
         const IdVector<MessageId, Message>& messages, const StepBounds& bounds,
         std::int64_t max_steps, std::int32_t waiting)
      : connection_(connection),
        lanes_(lanes),
        messages_(messages),
        bounds_(bounds),
        max_steps_(max_steps),
        waiting_(waiting) {}

  [[nodiscard]] std::optional<std::vector<Lane>> largest_first() const {
    std::vector<MessageId> by_size = connection_.messages;
    std::stable_sort(by_size.begin(), by_size.end(), [&](MessageId a, MessageId b) {
      return messages_[a].count > messages_[b].count;
    });
    std::vector<Lane> result(lanes_);
    for (const MessageId m : by_size) {
      Lane* best = nullptr;
      for (Lane& lane : result) {
        if (has_room(lane, m) && (best == nullptr || lane.chunks < best->chunks)) best = &lane;
      }
      if (best == nullptr) return std::nullopt;
      add(*best, m);
    }
    for (Lane& lane : result) std::sort(lane.messages.begin(), lane.messages.end());
    return result;
  }

  // The least longest period for which messages in order fit the lanes, by bisection.
  [[nodiscard]] std::optional<std::vector<Lane>> in_order() const {
    Lane all;
    for (const MessageId m : connection_.messages) add(all, m);
    std::int64_t low = 2 * all.largest, high = all.period;
    auto best = in_order_within(high);
    while (best && low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (auto found = in_order_within(middle)) {
        best = std::move(found);
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return best;
  }

 private:
  // Every lane as full as it can be, but none left empty.
  [[nodiscard]] std::optional<std::vector<Lane>> in_order_within(std::int64_t period) const {
    std::vector<Lane> result;
    std::size_t left = connection_.messages.size();
    for (const MessageId m : connection_.messages) {
      const bool is_needed = left-- + result.size() <= lanes_;
      const bool goes_on = !result.empty() && !is_needed && has_room(result.back(), m) &&
                           period_with(result.back(), m) <= period;
      if (goes_on) {
        add(result.back(), m);
        continue;
      }
      if (result.size() == lanes_ || !has_room(Lane(), m)) return std::nullopt;
      add(result.emplace_back(), m);
    }
    return result;
  }

  [[nodiscard]] bool has_room(const Lane& lane, MessageId m) const {
    return lane.send_steps + bounds_.send(m) <= max_steps_ &&
           lane.recv_steps + bounds_.recv(m) <= max_steps_;
  }

  // Of the lane with one message more. REQUIRES: it has one.
  [[nodiscard]] std::int64_t period_with(const Lane& lane, MessageId m) const {
    Lane longer;
    longer.chunks = lane.chunks;
    longer.largest = lane.largest;
    longer.first = lane.first;
    longer.last = lane.last;
    count(longer, m);
    return longer.period;
  }

  // Messages that must come before it, one after the other.
  [[nodiscard]] std::int32_t chain(MessageId m) const {
    return waiting_ == 0 ? messages_[m].level : bounds_.chain(m);
  }

  void count(Lane& lane, MessageId m) const {
    const Message& message = messages_[m];
    lane.chunks += message.count;
    lane.largest = std::max<std::int64_t>(lane.largest, message.count);
    lane.first = std::min(lane.first, chain(m));
    lane.last = std::max(lane.last, chain(m));
    const std::int64_t halves = waiting_ == 0 ? 2 : waiting_;
    const std::int64_t waits = lane.last - lane.first + std::int64_t{1};
    lane.period = std::max(2 * lane.chunks, halves * waits * lane.largest);
  }

  void add(Lane& lane, MessageId m) const {
    if (lane.messages.empty()) lane.first = lane.last = chain(m);
    count(lane, m);
    lane.messages.push_back(m);
    lane.send_steps += bounds_.send(m);
    lane.recv_steps += bounds_.recv(m);
  }

  const Connection& connection_;
  std::size_t lanes_;
  const IdVector<MessageId, Message>& messages_;
  const StepBounds& bounds_;
  std::int64_t max_steps_;
  std::int32_t waiting_;
};

}  // namespace

std::optional<std::vector<Lane>> cut(const Connection& connection, std::size_t lanes,
                                     const IdVector<MessageId, Message>& messages,
                                     const StepBounds& bounds, std::int64_t max_steps,
                                     std::int32_t waiting) {
  const Cutter cutter(connection, lanes, messages, bounds, max_steps, waiting);
  auto in_order = cutter.in_order();
  auto by_size = cutter.largest_first();
  if (!in_order) return by_size;
  if (by_size && slowest(*by_size) < slowest(*in_order)) return by_size;
  return in_order;
}

std::int64_t slowest(std::span<const Lane> lanes) {
  std::int64_t most = 0;
  for (const Lane& lane : lanes) most = std::max(most, lane.period);
  return most;
}

}  // namespace forestcoll::schedule
