#include "solver/alltoall/rounds.hpp"

#include <algorithm>
#include <span>
#include <tuple>
#include <vector>

namespace forestcoll::solver::alltoall {
namespace {

// Part of a path: its links carry `amount` (parts · demand) at a time.
struct Leg {
  std::vector<ArcId> links;
};

std::vector<Leg> legs_of(const Network& network, const AlltoallPath& path) {
  std::vector<Leg> legs;
  for (std::size_t i = 0; i + 1 < path.nodes.size(); ++i) {
    if (network.is_compute(path.nodes[i])) legs.emplace_back();
    legs.back().links.push_back(network.graph.find(path.nodes[i], path.nodes[i + 1]));
  }
  return legs;
}

// What each link has carried, by round.
class Timetable {
 public:
  // A round lasts `amount` / `capacity`, the largest of all links and legs.
  Timetable(const Network& network, Int128 amount, Int128 capacity)
      : used_(network.graph.arc_count()), full_before_(used_.size(), 0) {
    for (std::size_t a = 0; a < used_.size(); ++a) {
      room_.push_back(network.capacity[ArcId(a)] * amount / capacity);
    }
  }

  // The first round from `earliest` on in which all links have room, now taken.
  std::int32_t take(std::span<const ArcId> links, Int128 amount, std::int32_t earliest) {
    std::int32_t round = earliest;
    for (const ArcId a : links) round = std::max(round, full_before_[a.index()]);
    while (!std::ranges::all_of(links, [&](ArcId a) { return has_room(a, amount, round); })) {
      ++round;
    }
    for (const ArcId a : links) {
      auto& used = used_[a.index()];
      if (used.size() <= static_cast<std::size_t>(round)) used.resize(round + std::size_t{1}, 0);
      used[static_cast<std::size_t>(round)] += amount;
      auto& full = full_before_[a.index()];
      while (static_cast<std::size_t>(full) < used.size() &&
             used[static_cast<std::size_t>(full)] == room_[a.index()]) {
        ++full;
      }
    }
    return round;
  }

 private:
  [[nodiscard]] bool has_room(ArcId a, Int128 amount, std::int32_t round) const {
    const auto& used = used_[a.index()];
    const auto at = static_cast<std::size_t>(round);
    return (at < used.size() ? used[at] : 0) + amount <= room_[a.index()];
  }

  std::vector<std::vector<Int128>> used_;  // by link and round
  std::vector<Int128> room_;               // by link
  std::vector<std::int32_t> full_before_;  // by link: all rounds below have no room at all
};

}  // namespace

void make_rounds(const Network& network, const Demand& demand, AlltoallRoutes& routes) {
  std::vector<std::vector<Leg>> legs;
  std::vector<Int128> amount;
  Int128 slow_amount = 0, slow_capacity = 1;
  std::size_t most_legs = 0;
  for (AlltoallPath& path : routes.paths) {
    legs.push_back(legs_of(network, path));
    amount.push_back(static_cast<Int128>(path.parts) * demand(path.src, path.dst));
    path.rounds.assign(legs.back().size(), 0);
    most_legs = std::max(most_legs, legs.back().size());
    for (const Leg& leg : legs.back()) {
      for (const ArcId a : leg.links) {
        if (amount.back() * slow_capacity <= slow_amount * network.capacity[a]) continue;
        slow_amount = amount.back();
        slow_capacity = network.capacity[a];
      }
    }
  }
  std::vector<std::size_t> order(routes.paths.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto apart = [&](const AlltoallPath& path) {
    const auto n = static_cast<std::int32_t>(network.ranks.size());
    return (path.dst.value - path.src.value + n) % n;
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const AlltoallPath &p = routes.paths[a], &q = routes.paths[b];
    return std::tuple(-std::ssize(p.rounds), -amount[a], apart(p), p.src) <
           std::tuple(-std::ssize(q.rounds), -amount[b], apart(q), q.src);
  });
  Timetable timetable(network, slow_amount, slow_capacity);
  for (std::size_t number = 0; number < most_legs; ++number) {
    for (const std::size_t i : order) {
      if (number >= legs[i].size()) continue;
      auto& rounds = routes.paths[i].rounds;
      const std::int32_t earliest = number == 0 ? 0 : rounds[number - 1] + 1;
      rounds[number] = timetable.take(legs[i][number].links, amount[i], earliest);
      routes.rounds = std::max(routes.rounds, rounds[number] + 1);
    }
  }
}

}  // namespace forestcoll::solver::alltoall
