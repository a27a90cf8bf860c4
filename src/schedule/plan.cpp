// Threadblocks: as parallel as fits.
//
// A threadblock has at most one peer that it sends to and one that it receives from, and each end
// of a lane belongs to exactly one threadblock. Where a GPU's limit allows, every end has its own.
// Where it does not, sending and receiving lanes on the same channel are joined until it fits, the
// pairs with the fewest steps first. A joined threadblock serves its messages in the global order
// like any other, so joining cannot cause a deadlock.
//
// Which pairs: on one channel, pairing the sender with the most steps with the receiver with the
// fewest, and giving up a sender that does not even fit with that one, finds the most pairs: the
// receivers that fit a sender include all those that fit a longer one.
#include "schedule/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "schedule/refusal.hpp"

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

class GpuPlanner {
 public:
  GpuPlanner(const IdVector<LaneId, PlacedLane>& lanes, const TargetLimits& target)
      : lanes_(lanes), max_steps_(target.max_steps) {}

  void add_sender(LaneId id) {
    by_channel_[lanes_[id].channel].senders.push_back(id);
    senders_.push_back(id);
  }
  void add_receiver(LaneId id) {
    by_channel_[lanes_[id].channel].receivers.push_back(id);
    receivers_.push_back(id);
  }

  // At most `limit` threadblocks; more if there are not pairs enough.
  [[nodiscard]] std::vector<ThreadblockPlan> plan(std::int64_t limit) {
    const std::int64_t excess = std::ssize(senders_) + std::ssize(receivers_) - limit;
    std::map<LaneId, LaneId> sender_of;  // by receiver
    if (excess > 0) {
      auto found = pairs();
      if (std::ssize(found) > excess) found.resize(static_cast<std::size_t>(excess));
      for (const Pair& pair : found) sender_of[pair.recv] = pair.send;
    }
    std::vector<ThreadblockPlan> result;
    std::vector<LaneId> joined;
    for (const LaneId id : receivers_) {
      const auto it = sender_of.find(id);
      result.push_back({it == sender_of.end() ? LaneId() : it->second, id});
      if (it != sender_of.end()) joined.push_back(it->second);
    }
    std::sort(joined.begin(), joined.end());
    for (const LaneId id : senders_) {
      if (!std::binary_search(joined.begin(), joined.end(), id)) result.push_back({id, {}});
    }
    return result;
  }

 private:
  // The pairs that can be joined, those with the fewest steps first.
  [[nodiscard]] std::vector<Pair> pairs() {
    std::vector<Pair> result;
    for (auto& [channel, ends] : by_channel_) {
      const auto sends = [&](LaneId id) { return lanes_[id].lane.send_steps; };
      const auto receives = [&](LaneId id) { return lanes_[id].lane.recv_steps; };
      std::stable_sort(ends.senders.begin(), ends.senders.end(),
                       [&](LaneId a, LaneId b) { return sends(a) > sends(b); });
      std::stable_sort(ends.receivers.begin(), ends.receivers.end(),
                       [&](LaneId a, LaneId b) { return receives(a) < receives(b); });
      auto receiver = ends.receivers.begin();
      for (const LaneId sender : ends.senders) {
        if (receiver == ends.receivers.end()) break;
        const std::int64_t steps = sends(sender) + receives(*receiver);
        if (steps <= max_steps_) result.push_back({sender, *receiver++, steps});
      }
    }
    std::stable_sort(result.begin(), result.end(),
                     [](const Pair& a, const Pair& b) { return a.steps < b.steps; });
    return result;
  }

  const IdVector<LaneId, PlacedLane>& lanes_;
  std::int64_t max_steps_;
  std::map<std::int32_t, Ends> by_channel_;
  std::vector<LaneId> senders_, receivers_;
};

Diagnostic too_many(std::size_t rank, std::size_t needed, const TargetLimits& target,
                    std::int64_t limit) {
  return refusal(
      "T01",
      fmt::format(
          "rank {} needs {} threadblocks even where sending and receiving share one, but at "
          "most {} are allowed ({} takes {}, and all must be on the GPU at once)",
          rank, needed, limit, target.name, target.max_threadblocks),
      "use a smaller -k, allow more threadblocks where the GPU has more SMs, or write the forest "
      "with --format forest");
}

}  // namespace

Expected<IdVector<Rank, std::vector<ThreadblockPlan>>> plan_threadblocks(
    const IdVector<LaneId, PlacedLane>& lanes, std::size_t ranks, const TargetLimits& target,
    std::int64_t max_threadblocks) {
  std::vector<GpuPlanner> planners(ranks, GpuPlanner(lanes, target));
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    planners[lanes[LaneId(i)].src.index()].add_sender(LaneId(i));
    planners[lanes[LaneId(i)].dst.index()].add_receiver(LaneId(i));
  }
  IdVector<Rank, std::vector<ThreadblockPlan>> result(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    result[Rank(r)] = planners[r].plan(max_threadblocks);
    const std::size_t needed = result[Rank(r)].size();
    if (std::cmp_greater(needed, max_threadblocks)) {
      return too_many(r, needed, target, max_threadblocks);
    }
  }
  return result;
}

}  // namespace forestcoll::schedule
