#include "solver/alltoall/routes/rounds.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace forestcoll::solver::alltoall {
namespace {

constexpr int kTries = 20;  // orders at most
// At a link in a round, over all orders, and then over all that are pushed out.
constexpr std::int64_t kLooks = std::int64_t{1} << 22;
constexpr std::int64_t kMendingLooks = std::int64_t{1} << 22;
// Links times rounds: beyond, there is no time for much of it.
constexpr std::int64_t kMostMended = std::int64_t{1} << 20;

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
  explicit Timetable(std::span<const Int128> room)
      : room_(room), used_(room.size()), full_before_(room.size(), 0) {}

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
  [[nodiscard]] std::int64_t looks() const { return looks_; }

 private:
  [[nodiscard]] bool has_room(ArcId a, Int128 amount, std::int32_t round) {
    ++looks_;
    const auto& used = used_[a.index()];
    const auto at = static_cast<std::size_t>(round);
    return (at < used.size() ? used[at] : 0) + amount <= room_[a.index()];
  }

  std::span<const Int128> room_;           // by link, in a round
  std::vector<std::vector<Int128>> used_;  // by link and round
  std::vector<std::int32_t> full_before_;  // by link: all rounds below have no room at all
  std::int64_t looks_ = 0;
};

class RoundsMaker {
 public:
  RoundsMaker(const Network& network, const Demand& demand, AlltoallRoutes& routes)
      : routes_(routes) {
    for (const AlltoallPath& path : routes.paths) {
      travellers_.push_back(
          {legs_of(network, path), static_cast<Int128>(path.parts) * demand(path.src, path.dst)});
    }
    measure(network);
    set_first_order(network);
  }

  void run() {
    make();
    mend();
  }

 private:
  void make() {
    std::int64_t looks = 0;
    for (int i = 0; i < kTries && looks < kLooks; ++i) {
      Timetable timetable(room_);
      const std::int32_t rounds = put_all(timetable);
      looks += timetable.looks();
      if (routes_.rounds == 0 || rounds < routes_.rounds) keep(rounds);
      if (routes_.rounds <= least_) return;
      reorder();
    }
  }

  // One round less, and again, as long as that is found.
  void mend() {
    if (routes_.rounds * std::ssize(room_) > kMostMended) return;
    std::int64_t looks = kMendingLooks;
    for (std::size_t i = 0; i < rounds_.size(); ++i) rounds_[i] = routes_.paths[i].rounds;
    while (routes_.rounds > least_) {
      const std::int32_t fewer = routes_.rounds - 1;
      if (!fit_into_rounds(travellers_, room_, fewer, rounds_, looks)) return;
      keep(fewer);
    }
  }

  // A round lasts as long as the slowest leg takes alone; there are at least as many as the link
  // that is busiest needs.
  void measure(const Network& network) {
    std::vector<Int128> loads(network.graph.arc_count(), 0);
    Int128 amount = 0, capacity = 1;
    for (const Traveller& traveller : travellers_) {
      for (const Leg& leg : traveller.legs) {
        for (const ArcId a : leg.links) {
          loads[a.index()] += traveller.amount;
          if (traveller.amount * capacity <= amount * network.capacity[a]) continue;
          amount = traveller.amount;
          capacity = network.capacity[a];
        }
      }
    }
    for (std::size_t a = 0; a < loads.size(); ++a) {
      room_.push_back(network.capacity[ArcId(a)] * amount / capacity);
      if (loads[a] == 0) continue;
      least_ = std::max(least_, static_cast<std::int32_t>((loads[a] - 1) / room_[a] + 1));
    }
  }

  // Long ways first, then large amounts, then in the order of their distance in ranks, so that
  // nobody is everybody's first.
  void set_first_order(const Network& network) {
    const auto n = static_cast<std::int32_t>(network.ranks.size());
    for (std::size_t i = 0; i < travellers_.size(); ++i) order_.push_back(i);
    const auto key = [&](std::size_t i) {
      const AlltoallPath& path = routes_.paths[i];
      return std::tuple(-std::ssize(travellers_[i].legs), -travellers_[i].amount,
                        (path.dst.value - path.src.value + n) % n, path.src);
    };
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
    blame_.assign(travellers_.size(), 0);
    rounds_.resize(travellers_.size());
  }

  std::int32_t put_all(Timetable& timetable) {
    std::int32_t count = 0;
    for (const std::size_t i : order_) {
      auto& rounds = rounds_[i];
      rounds.clear();
      for (const Leg& leg : travellers_[i].legs) {
        const std::int32_t earliest = rounds.empty() ? 0 : rounds.back() + 1;
        rounds.push_back(timetable.take(leg.links, travellers_[i].amount, earliest));
      }
      count = std::max(count, rounds.back() + 1);
    }
    return count;
  }

  // Those that came too late get a better place; others keep their order.
  void reorder() {
    for (std::size_t i = 0; i < rounds_.size(); ++i) {
      blame_[i] += std::max(0, rounds_[i].back() + 1 - least_);
    }
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t a, std::size_t b) { return blame_[a] > blame_[b]; });
  }

  void keep(std::int32_t rounds) {
    routes_.rounds = rounds;
    for (std::size_t i = 0; i < rounds_.size(); ++i) routes_.paths[i].rounds = rounds_[i];
  }

  AlltoallRoutes& routes_;
  std::vector<Traveller> travellers_;  // by path, like all that follows
  std::vector<Int128> room_;           // by link, in a round
  std::int32_t least_ = 1;             // no fewer rounds
  std::vector<std::size_t> order_;
  std::vector<std::int64_t> blame_;
  LegRounds rounds_;
};

}  // namespace

void make_rounds(const Network& network, const Demand& demand, AlltoallRoutes& routes) {
  RoundsMaker(network, demand, routes).run();
}

}  // namespace forestcoll::solver::alltoall
