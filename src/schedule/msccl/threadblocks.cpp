// Threadblocks: as parallel as fits.
//
// A threadblock has at most one peer that it sends to and one that it receives from, and each end
// of a lane belongs to exactly one threadblock. Where a GPU's limit allows, every end has its own.
// Where it does not, sending and receiving lanes on the same channel are joined until it fits, or
// all that can be where the fewest are asked for. A joined threadblock serves its messages in the
// same order as any other, so joining cannot cause a deadlock.
//
// Which pairs. First those whose messages are the most often forwarded from one lane to the other:
// there a step receives and sends at once. Two lanes that do nothing else are joined always; apart,
// one would only wait for the other. Then, on one channel, the sender with the most steps with the
// receiver with the fewest, giving up a sender that does not even fit with that one. Alone, this
// second rule finds the most pairs: the receivers that fit a sender include all those that fit a
// longer one. Where the first rule leaves too few pairs for the limit, the second goes alone.
// What roots forward, one message of each of their trees, decides only where all that can be is
// joined anyway, and as much with it as without.
#include "schedule/msccl/threadblocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "forestcoll/codes.hpp"

namespace forestcoll::schedule {
namespace {

// The lanes of one GPU on one channel.
struct Ends {
  std::vector<LaneId> senders, receivers;
};

struct Pair {
  LaneId send, recv;
  std::int64_t steps;
};

class GpuThreadblocks {
 public:
  GpuThreadblocks(const IdVector<LaneId, PlacedLane>& lanes, const TargetLimits& target,
                  ThreadblockUse use)
      : lanes_(lanes), max_steps_(target.max_steps), use_(use) {}

  void add_sender(LaneId id) {
    by_channel_[lanes_[id].channel].senders.push_back(id);
    senders_.push_back(id);
  }
  void add_receiver(LaneId id) {
    by_channel_[lanes_[id].channel].receivers.push_back(id);
    receivers_.push_back(id);
  }
  void add_group(const RelayGroup& group) { groups_.push_back(&group); }

  // At most `limit` threadblocks; more if there are not pairs enough.
  [[nodiscard]] std::vector<BlockLanes> place(std::int64_t limit) {
    const std::int64_t ends = std::ssize(senders_) + std::ssize(receivers_);
    std::map<LaneId, LaneId> sender_of;  // by receiver
    for (const Pair& pair : choose(ends, limit)) sender_of[pair.recv] = pair.send;
    std::vector<BlockLanes> result;
    std::set<LaneId> joined;
    for (const LaneId id : receivers_) {
      const auto it = sender_of.find(id);
      result.push_back({it == sender_of.end() ? LaneId() : it->second, id});
      if (it != sender_of.end()) joined.insert(it->second);
    }
    for (const LaneId id : senders_) {
      if (!joined.contains(id)) result.push_back({id, {}});
    }
    return result;
  }

 private:
  [[nodiscard]] std::vector<Pair> choose(std::int64_t ends, std::int64_t limit) const {
    if (use_ == ThreadblockUse::per_tree) return {};
    const std::int64_t wanted =
        use_ == ThreadblockUse::merge ? ends : std::max<std::int64_t>(0, ends - limit);
    std::vector<Pair> chosen = by_relays(wanted, false);
    add_by_steps(chosen, wanted);
    if (use_ == ThreadblockUse::merge) {
      std::vector<Pair> with_turns = by_relays(wanted, true);
      add_by_steps(with_turns, wanted);
      if (with_turns.size() >= chosen.size()) chosen = std::move(with_turns);
    }
    if (ends - std::ssize(chosen) > limit) {
      std::vector<Pair> plain;
      add_by_steps(plain, wanted);
      if (plain.size() > chosen.size()) return plain;
    }
    return chosen;
  }

  // Pairs with relays: all that do nothing else, and others until there are `wanted`.
  // `turns`: also those whose only relays are at roots.
  [[nodiscard]] std::vector<Pair> by_relays(std::int64_t wanted, bool turns) const {
    std::vector<const RelayGroup*> groups = groups_;
    const auto rank = [&](const RelayGroup* group) {
      return std::pair(!is_pure(*group), -static_cast<std::int64_t>(group->within_phase));
    };
    std::stable_sort(groups.begin(), groups.end(),
                     [&](const auto* a, const auto* b) { return rank(a) < rank(b); });
    std::vector<Pair> chosen;
    std::set<LaneId> used;
    for (const RelayGroup* group : groups) {
      if (group->within_phase == 0 && !turns) break;
      if (!is_pure(*group) && std::ssize(chosen) >= wanted) break;
      const std::int64_t steps = steps_of(group->send, group->recv);
      if (steps > max_steps_ || used.contains(group->send) || used.contains(group->recv)) continue;
      used.insert({group->send, group->recv});
      chosen.push_back({group->send, group->recv, steps});
    }
    return chosen;
  }

  // The lanes do nothing but forward, one to the other.
  [[nodiscard]] bool is_pure(const RelayGroup& group) const {
    const std::size_t relays = group.within_phase;
    return lanes_[group.send].lane.messages.size() == relays &&
           lanes_[group.recv].lane.messages.size() == relays;
  }

  // Fills up to `wanted` with other pairs, those with the fewest steps first.
  void add_by_steps(std::vector<Pair>& chosen, std::int64_t wanted) const {
    std::set<LaneId> used;
    for (const Pair& pair : chosen) used.insert({pair.send, pair.recv});
    std::vector<Pair> more = pairs(used);
    const std::int64_t missing = std::max<std::int64_t>(0, wanted - std::ssize(chosen));
    if (std::ssize(more) > missing) more.resize(static_cast<std::size_t>(missing));
    chosen.insert(chosen.end(), more.begin(), more.end());
  }

  [[nodiscard]] std::vector<Pair> pairs(const std::set<LaneId>& used) const {
    std::vector<Pair> result;
    for (auto [channel, ends] : by_channel_) {
      const auto is_used = [&](LaneId id) { return used.contains(id); };
      std::erase_if(ends.senders, is_used);
      std::erase_if(ends.receivers, is_used);
      const auto sends = [&](LaneId id) { return lanes_[id].lane.send_steps; };
      const auto receives = [&](LaneId id) { return lanes_[id].lane.recv_steps; };
      std::stable_sort(ends.senders.begin(), ends.senders.end(),
                       [&](LaneId a, LaneId b) { return sends(a) > sends(b); });
      std::stable_sort(ends.receivers.begin(), ends.receivers.end(),
                       [&](LaneId a, LaneId b) { return receives(a) < receives(b); });
      auto receiver = ends.receivers.begin();
      for (const LaneId sender : ends.senders) {
        if (receiver == ends.receivers.end()) break;
        const std::int64_t steps = steps_of(sender, *receiver);
        if (steps <= max_steps_) result.push_back({sender, *receiver++, steps});
      }
    }
    std::stable_sort(result.begin(), result.end(),
                     [](const Pair& a, const Pair& b) { return a.steps < b.steps; });
    return result;
  }

  [[nodiscard]] std::int64_t steps_of(LaneId send, LaneId recv) const {
    return lanes_[send].lane.send_steps + lanes_[recv].lane.recv_steps;
  }

  const IdVector<LaneId, PlacedLane>& lanes_;
  std::int64_t max_steps_;
  ThreadblockUse use_;
  std::map<std::int32_t, Ends> by_channel_;
  std::vector<LaneId> senders_, receivers_;
  std::vector<const RelayGroup*> groups_;
};

Diagnostic too_many(Rank rank, std::size_t needed, const TargetLimits& target,
                    const ThreadblockLimits& limits) {
  const bool per_tree = limits.use == ThreadblockUse::per_tree;
  std::string remedy = "use `threadblocks=merge`";
  if (!per_tree) {
    remedy = fmt::format(
        "use a smaller `k`{}, allow more threadblocks where the GPU has more SMs, or write the "
        "forest with `format=forest`",
        limits.instances > 1 ? ", fewer `instances`" : "");
  }
  return make_error(
      Code::T01,
      fmt::format(
          "rank {} needs {} threadblocks {}, but at most {} are allowed ({} takes {}, and all "
          "must be on the GPU at once)",
          rank.value, needed,
          per_tree ? "with one for every edge of every tree"
                   : "even where sending and receiving share one",
          limits.most, target.name, target.max_threadblocks),
      std::move(remedy));
}

// Of a rank, the others that it sends to and those that it receives from.
struct Peers {
  std::vector<bool> to, from;
  explicit Peers(std::size_t ranks) : to(ranks), from(ranks) {}
};

IdVector<Rank, Peers> find_peers(const CollectiveForest& forest, std::size_t ranks) {
  IdVector<Rank, Peers> peers(ranks, Peers(ranks));
  for (const auto* phase : {&forest.reduce, &forest.broadcast}) {
    for (std::size_t t = 0; *phase && t < (*phase)->tree_count(); ++t) {
      for (std::size_t v = 0; v < ranks; ++v) {
        Rank from = (*phase)->parent(TreeId(t), Rank(v)), to(v);
        if (!from.valid()) continue;
        if (phase == &forest.reduce) std::swap(from, to);
        peers[from].to[to.index()] = peers[to].from[from.index()] = true;
      }
    }
  }
  return peers;
}

}  // namespace

Expected<void> refuse_many_peers(const CollectiveForest& forest, std::size_t ranks,
                                 const TargetLimits& target, std::int64_t most) {
  if (std::cmp_less_equal(ranks, most)) return {};
  const IdVector<Rank, Peers> peers = find_peers(forest, ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    const Peers& of = peers[Rank(r)];
    const auto count = std::max(std::ranges::count(of.to, true), std::ranges::count(of.from, true));
    if (count <= most) continue;
    return make_error(
        Code::T01,
        fmt::format("rank {} needs at least {} threadblocks even where sending and receiving share "
                    "one, but "
                    "at most {} are allowed ({} takes {}, and all must be on the GPU at once)",
                    r, count, most, target.name, target.max_threadblocks),
        fmt::format("it has {} others to send to or to receive from, and needs at least as many "
                    "threadblocks: allow them with `max_threadblocks` where the GPU has more SMs, "
                    "or write the forest with `format=forest`",
                    count));
  }
  return {};
}

Expected<Threadblocks> assign_threadblocks(const IdVector<LaneId, PlacedLane>& lanes,
                                           const std::vector<RelayGroup>& groups, std::size_t ranks,
                                           const TargetLimits& target,
                                           const ThreadblockLimits& limits) {
  std::vector<GpuThreadblocks> gpus(ranks, GpuThreadblocks(lanes, target, limits.use));
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    gpus[lanes[LaneId(i)].src.index()].add_sender(LaneId(i));
    gpus[lanes[LaneId(i)].dst.index()].add_receiver(LaneId(i));
  }
  for (const RelayGroup& group : groups) {
    gpus[lanes[group.send].src.index()].add_group(group);
  }
  Threadblocks result;
  std::set<std::pair<LaneId, LaneId>> joined;
  for (std::size_t r = 0; r < ranks; ++r) {
    result.of_rank.push_back(gpus[r].place(limits.most));
    const auto& made = result.of_rank[Rank(r)];
    if (std::cmp_greater(made.size(), limits.most)) {
      return too_many(Rank(r), made.size(), target, limits);
    }
    for (const BlockLanes& block : made) {
      if (block.send.valid() && block.recv.valid()) joined.insert({block.recv, block.send});
    }
  }
  for (const RelayGroup& group : groups) {
    if (!joined.contains({group.recv, group.send})) continue;
    result.relays.insert(result.relays.end(), group.relays.begin(), group.relays.end());
  }
  return result;
}

}  // namespace forestcoll::schedule
