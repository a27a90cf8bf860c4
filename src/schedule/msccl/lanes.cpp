// Lanes: at first one per connection, or as many as the limit on steps forces. Then, as long as
// both ends have room, the connection with the slowest lane gets as many more as make that lane
// faster: data that wait for each other in one threadblock flow side by side in two. Channels are
// numbered from the lowest that is free at both ends and belongs to the connection's rail.
#include "schedule/msccl/lanes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <queue>
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
         const TargetLimits& target, std::int64_t max_threadblocks, ThreadblockUse use)
      : messages_(messages),
        bounds_(bounds),
        target_(target),
        use_(use),
        max_lanes_(std::min<std::int64_t>(max_threadblocks, target.max_depended)),
        connections_(connect(messages)),
        lanes_(connections_.size()),
        channels_(connections_.size()) {
    const std::vector<std::int32_t> none(static_cast<std::size_t>(target.max_channels), 0);
    gpus_.assign(ranks, Gpu{none, none, 0, static_cast<std::int64_t>(ranks) + 1});
    number_pairs();
  }

  Expected<void> place_fewest() {
    for (std::size_t c = 0; c < connections_.size(); ++c) {
      const Connection& connection = connections_[ConnectionId(c)];
      auto lanes = fewest_lanes(connection);
      if (!lanes) return too_many_steps(connection);
      for (const Lane& lane : *lanes) {
        gpus_[connection.src].elements += lane.send_steps;
        gpus_[connection.dst].elements += lane.recv_steps;
      }
      if (!grow(ConnectionId(c), std::move(*lanes))) return too_many_channels(connection);
    }
    return {};
  }

  void spread() {
    struct Candidate {
      std::int64_t period;  // of the slowest lane
      ConnectionId connection;
      bool operator<(const Candidate& other) const {
        return std::pair(period, other.connection) < std::pair(other.period, connection);
      }
    };
    std::priority_queue<Candidate> queue;
    for (std::size_t c = 0; c < connections_.size(); ++c) {
      queue.push({slowest(lanes_[ConnectionId(c)]), ConnectionId(c)});
    }
    while (!queue.empty()) {
      const ConnectionId c = queue.top().connection;
      queue.pop();
      if (widen(c)) queue.push({slowest(lanes_[c]), c});
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
  // Streams between the same two ranks share their channels.
  void number_pairs() {
    for (std::size_t c = 0; c < connections_.size(); ++c) {
      const Connection& connection = connections_[ConnectionId(c)];
      const bool is_new = c == 0 || connections_[ConnectionId(c - 1)].src != connection.src ||
                          connections_[ConnectionId(c - 1)].dst != connection.dst;
      if (is_new) used_.emplace_back(static_cast<std::size_t>(target_.max_channels), false);
      pair_of_.push_back(used_.size() - 1);
    }
  }

  [[nodiscard]] std::optional<std::vector<Lane>> cut_into(const Connection& connection,
                                                          std::size_t lanes) const {
    return cut(connection, lanes, messages_, bounds_, target_.max_steps);
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

  // More lanes for `c`, as few more as make the slowest faster. False, and nothing changed, where
  // there is no room, or no gain in as many lanes as there is room for.
  bool widen(ConnectionId c) {
    const Connection& connection = connections_[c];
    const std::int64_t before = slowest(lanes_[c]);
    const std::size_t now = lanes_[c].size();
    const std::size_t most =
        std::min(connection.messages.size(),
                 now + std::min(room(gpus_[connection.src]), room(gpus_[connection.dst])));
    for (std::size_t lanes = now + 1; lanes <= most; ++lanes) {
      auto wider = cut_into(connection, lanes);
      if (wider && slowest(*wider) < before) return grow(c, std::move(*wider));
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

  // Gives `c` these lanes, of which there are not fewer than before. False, and nothing changed,
  // where there are no channels for them.
  bool grow(ConnectionId c, std::vector<Lane> lanes) {
    Gpu& src = gpus_[connections_[c].src];
    Gpu& dst = gpus_[connections_[c].dst];
    const Rails::Rail rail = connections_[c].rail;
    std::vector<std::int32_t> channels = channels_[c];
    for (std::int32_t channel = rail.number;
         channel < target_.max_channels && channels.size() < lanes.size(); channel += rail.count) {
      const auto i = static_cast<std::size_t>(channel);
      if (src.senders[i] < target_.max_per_channel && dst.receivers[i] < target_.max_per_channel &&
          !used_[pair_of_[c]][i]) {
        channels.push_back(channel);
      }
    }
    if (channels.size() < lanes.size()) return false;
    for (std::size_t i = channels_[c].size(); i < channels.size(); ++i) {
      const auto channel = static_cast<std::size_t>(channels[i]);
      ++src.senders[channel];
      ++dst.receivers[channel];
      used_[pair_of_[c]][channel] = true;
      for (Gpu* gpu : {&src, &dst}) {
        ++gpu->lanes;
        ++gpu->elements;
      }
    }
    channels_[c] = std::move(channels);
    lanes_[c] = std::move(lanes);
    return true;
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
    if (use_ == ThreadblockUse::per_tree) {
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
  ThreadblockUse use_;
  std::int64_t max_lanes_;  // of a GPU that gets more than it must
  IdVector<ConnectionId, Connection> connections_;
  IdVector<ConnectionId, std::vector<Lane>> lanes_;
  IdVector<ConnectionId, std::vector<std::int32_t>> channels_;  // of the lanes
  IdVector<ConnectionId, std::size_t> pair_of_;                 // two ranks, in order
  std::vector<std::vector<bool>> used_;                         // by pair and channel
  IdVector<Rank, Gpu> gpus_;
};

}  // namespace

Expected<IdVector<LaneId, PlacedLane>> place_lanes(const IdVector<MessageId, Message>& messages,
                                                   const StepBounds& bounds, std::size_t ranks,
                                                   const TargetLimits& target,
                                                   std::int64_t max_threadblocks,
                                                   ThreadblockUse use) {
  Placer placer(messages, bounds, ranks, target, max_threadblocks, use);
  if (const auto done = placer.place_fewest(); !done) return done.errors();
  if (use == ThreadblockUse::spread) placer.spread();
  return std::move(placer).placed();
}

}  // namespace forestcoll::schedule
