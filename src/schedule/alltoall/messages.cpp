#include "schedule/alltoall/messages.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace forestcoll::schedule {
namespace {

using Connection = std::pair<Rank, Rank>;

// The ranks that a path passes, ends included.
std::vector<Rank> ranks_of(const AlltoallPath& path, const IdVector<NodeId, Rank>& rank_of) {
  std::vector<Rank> ranks;
  for (const NodeId v : path.nodes) {
    if (rank_of[v].valid()) ranks.push_back(rank_of[v]);
  }
  return ranks;
}

// What stands in front of others of the same round, or of the same leg number where there are none.
struct Turn {
  std::int32_t round, behind, apart;
  std::size_t message;
};

struct Cut {
  std::vector<AlltoallMessage> messages;
  std::vector<Turn> turns;
};

Cut cut_into_messages(const AlltoallRoutes& routes, const IdVector<NodeId, Rank>& rank_of,
                      std::int32_t ranks, std::int64_t max_count, std::int32_t instances) {
  Cut cut;
  std::map<Connection, std::int64_t> placed;  // chunks of the pair that have a path
  for (const AlltoallPath& path : routes.paths) {
    const std::vector<Rank> stops = ranks_of(path, rank_of);
    const auto legs = static_cast<std::int32_t>(stops.size()) - 1;
    const std::int32_t apart = (path.dst.value - path.src.value + ranks) % ranks;
    std::int64_t& first = placed[{path.src, path.dst}];
    for (std::int64_t left = path.parts * instances; left > 0;) {
      const std::int64_t count = std::min({left, max_count, path.parts});
      for (std::int32_t leg = 0; leg < legs; ++leg) {
        const std::int32_t round =
            path.rounds.empty() ? leg : path.rounds[static_cast<std::size_t>(leg)];
        cut.turns.push_back({round, legs - leg, apart, cut.messages.size()});
        cut.messages.push_back(
            {.from = stops[static_cast<std::size_t>(leg)],
             .to = stops[static_cast<std::size_t>(leg) + 1],
             .src = path.src,
             .dst = path.dst,
             .first = first,
             .count = count,
             .previous = leg == 0 ? -1 : static_cast<std::int32_t>(cut.messages.size()) - 1,
             .is_last = leg + 1 == legs});
      }
      first += count;
      left -= count;
    }
  }
  return cut;
}

}  // namespace

AlltoallMessages order_alltoall(const AlltoallRoutes& routes, const IdVector<NodeId, Rank>& rank_of,
                                std::size_t ranks, std::int64_t max_count,
                                std::int64_t max_messages, std::int32_t instances) {
  Cut cut =
      cut_into_messages(routes, rank_of, static_cast<std::int32_t>(ranks), max_count, instances);
  std::stable_sort(cut.turns.begin(), cut.turns.end(), [](const Turn& a, const Turn& b) {
    return std::tuple(a.round, -a.behind, a.apart) < std::tuple(b.round, -b.behind, b.apart);
  });
  AlltoallMessages result{std::move(cut.messages), 1};
  struct Lanes {
    std::int64_t messages = 0;
    std::vector<std::int32_t> level;  // of the last message so far, by lane
  };
  std::map<Connection, Lanes> connections;
  for (const AlltoallMessage& message : result.all) {
    ++connections[{message.from, message.to}].messages;
  }
  for (auto& [connection, lanes] : connections) {
    const auto least = static_cast<std::size_t>((lanes.messages - 1) / max_messages + 1);
    lanes.level.assign(std::max(least, static_cast<std::size_t>(instances)), 0);
    result.lanes = std::max(result.lanes, static_cast<std::int32_t>(lanes.level.size()));
    lanes.messages = 0;
  }
  for (const Turn& turn : cut.turns) {
    AlltoallMessage& message = result.all[turn.message];
    Lanes& lanes = connections[{message.from, message.to}];
    message.lane = static_cast<std::int32_t>(lanes.messages++ % std::ssize(lanes.level));
    std::int32_t& last = lanes.level[static_cast<std::size_t>(message.lane)];
    if (message.previous >= 0) {
      last = std::max(last, result.all[static_cast<std::size_t>(message.previous)].level);
    }
    message.level = ++last;
  }
  return result;
}

}  // namespace forestcoll::schedule
