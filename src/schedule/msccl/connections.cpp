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
#include <numeric>
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
         const CutLimits& limits)
      : connection_(connection), lanes_(lanes), limits_(limits) {
    needs_.reserve(connection.messages.size());
    for (const MessageId m : connection.messages) {
      const std::int32_t chain = limits.waiting == 0 ? messages[m].level : bounds.chain(m);
      needs_.push_back({messages[m].count, bounds.send(m), bounds.recv(m), chain});
    }
  }

  [[nodiscard]] std::optional<std::vector<Lane>> largest_first() const {
    std::vector<std::size_t> by_size(needs_.size());
    std::iota(by_size.begin(), by_size.end(), std::size_t{0});
    std::stable_sort(by_size.begin(), by_size.end(), [&](std::size_t a, std::size_t b) {
      return needs_[a].chunks > needs_[b].chunks;
    });
    std::vector<Lane> result(lanes_);
    for (const std::size_t i : by_size) {
      Lane* best = nullptr;
      for (Lane& lane : result) {
        if (has_room(lane, needs_[i]) && (best == nullptr || lane.chunks < best->chunks)) {
          best = &lane;
        }
      }
      if (best == nullptr) return std::nullopt;
      add(*best, i);
    }
    for (Lane& lane : result) std::sort(lane.messages.begin(), lane.messages.end());
    return result;
  }

  // The least longest period for which messages in order fit the lanes, by bisection; none where
  // that is not below `limits.below`.
  [[nodiscard]] std::optional<std::vector<Lane>> in_order() const {
    LaneLoad all;
    for (const Need& need : needs_) all = with(all, need);
    // No division has less than an even share.
    const auto lanes = static_cast<std::int64_t>(lanes_);
    std::int64_t low = 2 * std::max(all.largest, (all.chunks + lanes - 1) / lanes);
    std::int64_t high = std::min(all.period, limits_.below - 1);
    std::vector<std::size_t> begins;
    if (low > high || !fit_in_order(high, begins)) return std::nullopt;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (fit_in_order(middle, begins)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    fit_in_order(high, begins);
    return lanes_from(begins);
  }

 private:
  // What a message asks of its lane.
  struct Need {
    std::int64_t chunks, send_steps, recv_steps;
    std::int32_t chain;  // of messages that must come before it, one after the other
  };

  // Where lanes begin, each as full as it can be, but none left empty. False: they do not fit.
  bool fit_in_order(std::int64_t period, std::vector<std::size_t>& begins) const {
    begins.clear();
    LaneLoad last;
    for (std::size_t i = 0; i < needs_.size(); ++i) {
      const bool is_needed = needs_.size() - i + begins.size() <= lanes_;
      if (!begins.empty() && !is_needed && has_room(last, needs_[i])) {
        const LaneLoad longer = with(last, needs_[i]);
        if (longer.period <= period) {
          last = longer;
          continue;
        }
      }
      if (begins.size() == lanes_ || !has_room(LaneLoad(), needs_[i])) return false;
      begins.push_back(i);
      last = with(LaneLoad(), needs_[i]);
    }
    return true;
  }

  [[nodiscard]] std::vector<Lane> lanes_from(const std::vector<std::size_t>& begins) const {
    std::vector<Lane> result(begins.size());
    for (std::size_t lane = 0; lane < begins.size(); ++lane) {
      const std::size_t end = lane + 1 < begins.size() ? begins[lane + 1] : needs_.size();
      for (std::size_t i = begins[lane]; i < end; ++i) add(result[lane], i);
    }
    return result;
  }

  [[nodiscard]] bool has_room(const LaneLoad& lane, const Need& need) const {
    return lane.send_steps + need.send_steps <= limits_.max_steps &&
           lane.recv_steps + need.recv_steps <= limits_.max_steps;
  }

  [[nodiscard]] LaneLoad with(LaneLoad lane, const Need& need) const {
    const bool is_first = lane.chunks == 0;
    lane.first = is_first ? need.chain : std::min(lane.first, need.chain);
    lane.last = is_first ? need.chain : std::max(lane.last, need.chain);
    lane.chunks += need.chunks;
    lane.send_steps += need.send_steps;
    lane.recv_steps += need.recv_steps;
    lane.largest = std::max(lane.largest, need.chunks);
    const std::int64_t halves = limits_.waiting == 0 ? 2 : limits_.waiting;
    const std::int64_t waits = lane.last - lane.first + std::int64_t{1};
    lane.period = std::max(2 * lane.chunks, halves * waits * lane.largest);
    return lane;
  }

  void add(Lane& lane, std::size_t i) const {
    static_cast<LaneLoad&>(lane) = with(lane, needs_[i]);
    lane.messages.push_back(connection_.messages[i]);
  }

  const Connection& connection_;
  std::size_t lanes_;
  CutLimits limits_;
  std::vector<Need> needs_;  // of the messages, in order
};

}  // namespace

std::optional<std::vector<Lane>> cut(const Connection& connection, std::size_t lanes,
                                     const IdVector<MessageId, Message>& messages,
                                     const StepBounds& bounds, const CutLimits& limits) {
  const Cutter cutter(connection, lanes, messages, bounds, limits);
  auto in_order = cutter.in_order();
  auto by_size = cutter.largest_first();
  const std::int64_t least = in_order ? slowest(*in_order) : limits.below;
  if (by_size && slowest(*by_size) < least) return by_size;
  return in_order;
}

std::int64_t slowest(std::span<const Lane> lanes) {
  std::int64_t most = 0;
  for (const Lane& lane : lanes) most = std::max(most, lane.period);
  return most;
}

}  // namespace forestcoll::schedule
