// Lanes: at first one per connection, or as many as the limit on steps forces. Then, as long as
// both ends have room, the connection with the slowest lane gets as many more as make that lane
// faster: data that wait for each other in one threadblock flow side by side in two. Channels are
// numbered from the lowest that is free at both ends and belongs to the connection's rail.
//
// Connections that are images of one another get as many lanes, on the same channels: what one of
// them can have all can, as nothing else was given to one without the others. Where they differ all
// the same, as no room for all of them is left, each is served by itself.
#include "schedule/msccl/lanes.hpp"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <limits>
#include <map>
#include <queue>
#include <span>
#include <utility>

#include "forestcoll/codes.hpp"

namespace forestcoll::schedule {
namespace {

// What one GPU has taken on so far.
struct Gpu {
  std::vector<std::int32_t> senders, receivers;  // on each channel
  std::int64_t lanes = 0;                        // at either end
  std::int64_t elements = 0;                     // of XML, an upper bound
};

class Placer {
 public:
  Placer(const IdVector<MessageId, Message>& messages, const StepBounds& bounds, std::size_t ranks,
         const TargetLimits& target, std::int64_t max_threadblocks, const LowerOptions& options)
      : messages_(messages),
        bounds_(bounds),
        target_(target),
        options_(options),
        max_lanes_(std::min<std::int64_t>(max_threadblocks, target.max_depended)),
        connections_(connect(messages)),
        lanes_(connections_.size()),
        channels_(connections_.size()) {
    const std::vector<std::int32_t> none(static_cast<std::size_t>(target.max_channels), 0);
    gpus_.assign(ranks, Gpu{none, none, 0, static_cast<std::int64_t>(ranks) + 1});
    number_pairs();
  }

  Expected<void> place_fewest() {
    std::vector<std::optional<std::vector<Lane>>> first(orbits_.size());
    tbb::parallel_for(std::size_t{0}, orbits_.size(), [&](std::size_t o) {
      first[o] = fewest_lanes(connections_[orbits_[o].front()]);
    });
    for (std::size_t o = 0; o < orbits_.size(); ++o) {
      const Orbit& orbit = orbits_[o];
      std::vector<std::vector<Lane>> all;
      for (const ConnectionId c : orbit) {
        const Connection& connection = connections_[c];
        auto lanes = all.empty() ? std::move(first[o]) : cut_like(orbit.front(), all.front(), c);
        if (!lanes) return too_many_steps(connection);
        for (const Lane& lane : *lanes) {
          gpus_[connection.src].elements += lane.send_steps;
          gpus_[connection.dst].elements += lane.recv_steps;
        }
        all.push_back(*std::move(lanes));
      }
      if (grow(orbit, all)) continue;
      for (std::size_t i = 0; i < orbit.size(); ++i) {
        std::vector<std::vector<Lane>> one(1, std::move(all[i]));
        if (!grow({&orbit[i], 1}, one)) return too_many_channels(connections_[orbit[i]]);
      }
    }
    return {};
  }

  void spread() {
    struct Candidate {
      std::int64_t period;  // of the slowest lane
      std::size_t orbit;
      bool operator<(const Candidate& other) const {
        return std::pair(period, other.orbit) < std::pair(other.period, orbit);
      }
    };
    const auto period = [&](std::size_t orbit) {
      std::int64_t most = 0;
      for (const ConnectionId c : orbits_[orbit]) most = std::max(most, slowest(lanes_[c]));
      return most;
    };
    std::priority_queue<Candidate> queue;
    for (std::size_t o = 0; o < orbits_.size(); ++o) queue.push({period(o), o});
    while (!queue.empty()) {
      const std::size_t orbit = queue.top().orbit;
      queue.pop();
      if (widen(orbits_[orbit])) queue.push({period(orbit), orbit});
    }
  }

  [[nodiscard]] IdVector<LaneId, PlacedLane> placed() && {
    IdVector<LaneId, PlacedLane> result;
    for (std::size_t c = 0; c < connections_.size(); ++c) {
      const ConnectionId id(c);
      for (std::size_t i = 0; i < lanes_[id].size(); ++i) {
        result.push_back({connections_[id].src, connections_[id].dst, channels_[id][i],
                          std::move(lanes_[id][i])});
      }
    }
    return result;
  }

 private:
  using Orbit = std::vector<ConnectionId>;

  // Streams between the same two ranks share their channels.
  void number_pairs() {
    std::map<std::pair<Rank, Rank>, std::size_t> known;
    for (std::size_t c = 0; c < connections_.size(); ++c) {
      const Connection& connection = connections_[ConnectionId(c)];
      const auto [found, is_new] =
          known.try_emplace(std::pair(connection.src, connection.dst), used_.size());
      if (is_new) used_.emplace_back(static_cast<std::size_t>(target_.max_channels), false);
      pair_of_.push_back(found->second);
      const bool is_first = c == 0 || connections_[ConnectionId(c - 1)].orbit != connection.orbit;
      if (is_first) orbits_.emplace_back();
      orbits_.back().emplace_back(c);
    }
  }

  // `below`: for lanes whose periods are shorter.
  [[nodiscard]] std::optional<std::vector<Lane>> cut_into(
      const Connection& connection, std::size_t lanes,
      std::int64_t below = std::numeric_limits<std::int64_t>::max()) const {
    return cut(connection, lanes, messages_, bounds_, {target_.max_steps, options_.waiting, below});
  }

  // As another one was cut, whose image it is; by itself where it takes other steps.
  [[nodiscard]] std::optional<std::vector<Lane>> cut_like(ConnectionId first,
                                                          const std::vector<Lane>& lanes,
                                                          ConnectionId image) const {
    const std::vector<MessageId>& from = connections_[first].messages;
    const std::vector<MessageId>& to = connections_[image].messages;
    for (std::size_t i = 0; i < from.size(); ++i) {
      const bool is_alike = bounds_.send(from[i]) == bounds_.send(to[i]) &&
                            bounds_.recv(from[i]) == bounds_.recv(to[i]);
      if (!is_alike) return cut_into(connections_[image], lanes.size());
    }
    std::vector<Lane> result = lanes;
    for (Lane& lane : result) {
      for (MessageId& m : lane.messages) m = to[position_in(from, m)];
    }
    return result;
  }

  // Of a message in a connection, which are in order.
  static std::size_t position_in(const std::vector<MessageId>& all, MessageId m) {
    return static_cast<std::size_t>(std::ranges::lower_bound(all, m) - all.begin());
  }

  [[nodiscard]] std::optional<std::vector<Lane>> fewest_lanes(const Connection& connection) const {
    std::int64_t sends = 0, receives = 0;
    for (const MessageId m : connection.messages) {
      sends += bounds_.send(m);
      receives += bounds_.recv(m);
    }
    const std::int64_t steps = std::max(sends, receives);
    auto lanes = static_cast<std::size_t>((steps + target_.max_steps - 1) / target_.max_steps);
    for (; lanes <= connection.messages.size(); ++lanes) {
      if (auto result = cut_into(connection, lanes)) return result;
      if (lanes > static_cast<std::size_t>(target_.max_channels)) break;
    }
    return std::nullopt;
  }

  // More lanes for each, as few more as make the slowest faster. False, and nothing changed, where
  // there is no room, or no gain in as many lanes as there is room for.
  bool widen(const Orbit& orbit) {
    std::int64_t before = 0;
    std::size_t now = 0, messages = 0;
    for (const ConnectionId c : orbit) {
      before = std::max(before, slowest(lanes_[c]));
      now = std::max(now, lanes_[c].size());
      messages = std::max(messages, connections_[c].messages.size());
    }
    const std::size_t most = std::min(messages, now + room(orbit));
    for (std::size_t lanes = now + 1; lanes <= most; ++lanes) {
      std::vector<std::vector<Lane>> wider;
      for (const ConnectionId c : orbit) {
        auto cut = wider.empty() ? cut_into(connections_[c], lanes, before)
                                 : cut_like(orbit.front(), wider.front(), c);
        if (!cut || slowest(*cut) >= before) break;
        wider.push_back(*std::move(cut));
      }
      if (wider.size() == orbit.size()) return grow(orbit, wider);
    }
    return false;
  }

  // Lanes that a GPU can still take.
  [[nodiscard]] std::size_t room(const Gpu& gpu) const {
    const std::int64_t lanes =
        std::min({max_lanes_ - gpu.lanes, target_.max_elements - gpu.elements,
                  std::int64_t{target_.max_channels}});
    return static_cast<std::size_t>(std::max<std::int64_t>(0, lanes));
  }

  // Lanes that each of them can still take, at both ends.
  [[nodiscard]] std::size_t room(const Orbit& orbit) const {
    std::map<Rank, std::size_t> ends;
    for (const ConnectionId c : orbit) {
      ++ends[connections_[c].src];
      ++ends[connections_[c].dst];
    }
    std::size_t least = std::numeric_limits<std::size_t>::max();
    for (const auto& [rank, count] : ends) least = std::min(least, room(gpus_[rank]) / count);
    return least;
  }

  // Gives each of them these lanes, of which there are not fewer than before, and all the same
  // further channels. False, and nothing changed, where there are no channels for them.
  bool grow(std::span<const ConnectionId> orbit, std::vector<std::vector<Lane>>& lanes) {
    const std::size_t now = channels_[orbit.front()].size(), wanted = lanes.front().size();
    for (std::size_t i = 0; i < orbit.size(); ++i) {
      if (channels_[orbit[i]].size() != now || lanes[i].size() != wanted) return false;
    }
    const auto channels = free_channels(orbit, wanted - now);
    if (channels.size() < wanted - now) return false;
    for (std::size_t i = 0; i < orbit.size(); ++i) {
      for (const std::int32_t channel : channels) take(orbit[i], channel);
      lanes_[orbit[i]] = std::move(lanes[i]);
    }
    return true;
  }

  // Up to `count`, the lowest that are free for all of them.
  [[nodiscard]] std::vector<std::int32_t> free_channels(std::span<const ConnectionId> orbit,
                                                        std::size_t count) const {
    std::vector<std::int32_t> free;
    const Rails::Rail rail = connections_[orbit.front()].rail;
    for (std::int32_t channel = rail.number; channel < target_.max_channels && free.size() < count;
         channel += rail.count) {
      const auto is_free = [&](ConnectionId c) {
        return is_free_at(c, static_cast<std::size_t>(channel));
      };
      if (std::ranges::all_of(orbit, is_free)) free.push_back(channel);
    }
    return free;
  }

  [[nodiscard]] bool is_free_at(ConnectionId c, std::size_t channel) const {
    return gpus_[connections_[c].src].senders[channel] < target_.max_per_channel &&
           gpus_[connections_[c].dst].receivers[channel] < target_.max_per_channel &&
           !used_[pair_of_[c]][channel];
  }

  void take(ConnectionId c, std::int32_t number) {
    const auto channel = static_cast<std::size_t>(number);
    channels_[c].push_back(number);
    Gpu& src = gpus_[connections_[c].src];
    Gpu& dst = gpus_[connections_[c].dst];
    ++src.senders[channel];
    ++dst.receivers[channel];
    used_[pair_of_[c]][channel] = true;
    for (Gpu* gpu : {&src, &dst}) {
      ++gpu->lanes;
      ++gpu->elements;
    }
  }

  [[nodiscard]] Diagnostic too_many_steps(const Connection& connection) const {
    std::int64_t steps = 0;
    for (const MessageId m : connection.messages) {
      steps = std::max({steps, bounds_.send(m), bounds_.recv(m)});
    }
    if (steps <= target_.max_steps) return too_many_channels(connection);
    return make_error(
        Code::T02,
        fmt::format("one message from rank {} to rank {} waits for {} others and takes "
                    "{} steps, but a threadblock of {} has at most {}",
                    connection.src.value, connection.dst.value, steps, steps, target_.name,
                    target_.max_steps),
        "use a smaller `k`, or write the forest with `format=forest`");
  }

  [[nodiscard]] Diagnostic too_many_channels(const Connection& connection) const {
    if (options_.threadblocks == ThreadblockUse::per_tree) {
      return make_error(Code::T03,
                        fmt::format("the trees that join rank {} to rank {} need a channel each, "
                                    "beyond the {} that {} has",
                                    connection.src.value, connection.dst.value,
                                    target_.max_channels, target_.name),
                        "use `threadblocks=merge`");
    }
    const std::size_t messages = connection.messages.size();
    return make_error(
        Code::T03,
        fmt::format("the {} message{} from rank {} to rank {} need{} a channel beyond "
                    "the {} that {} has, with {} steps per threadblock and {} "
                    "threadblocks per channel",
                    messages, messages == 1 ? "" : "s", connection.src.value, connection.dst.value,
                    messages == 1 ? "s" : "", target_.max_channels, target_.name, target_.max_steps,
                    target_.max_per_channel),
        "use a smaller `k`, fewer `instances`, or write the forest with `format=forest`");
  }

  const IdVector<MessageId, Message>& messages_;
  const StepBounds& bounds_;
  const TargetLimits& target_;
  const LowerOptions& options_;
  std::int64_t max_lanes_;  // of a GPU that gets more than it must
  IdVector<ConnectionId, Connection> connections_;
  IdVector<ConnectionId, std::vector<Lane>> lanes_;
  IdVector<ConnectionId, std::vector<std::int32_t>> channels_;  // of the lanes
  IdVector<ConnectionId, std::size_t> pair_of_;                 // two ranks, in order
  std::vector<std::vector<bool>> used_;                         // by pair and channel
  std::vector<Orbit> orbits_;
  IdVector<Rank, Gpu> gpus_;
};

}  // namespace

Expected<IdVector<LaneId, PlacedLane>> place_lanes(const IdVector<MessageId, Message>& messages,
                                                   const StepBounds& bounds, std::size_t ranks,
                                                   const TargetLimits& target,
                                                   std::int64_t max_threadblocks,
                                                   const LowerOptions& options) {
  Placer placer(messages, bounds, ranks, target, max_threadblocks, options);
  if (const auto done = placer.place_fewest(); !done) return done.errors();
  if (options.threadblocks == ThreadblockUse::spread) placer.spread();
  return std::move(placer).placed();
}

}  // namespace forestcoll::schedule
