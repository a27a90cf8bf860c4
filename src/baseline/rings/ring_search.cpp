#include "baseline/rings/ring_search.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <utility>

namespace forestcoll::baseline {
namespace {

constexpr std::int64_t kReplaySteps = 1 << 8;
constexpr std::int64_t kFreeSteps = 1 << 14;
constexpr std::int64_t kMostShares = 8;  ///< of a link
constexpr std::size_t kMostRings = 32;
constexpr std::size_t kMostSpeeds = 512;
// GB/s, by which NCCL 2.19 plans inside a machine.
constexpr std::array<std::int64_t, 13> kNcclSpeeds = {40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3};

/// A path to another rank of the box.
struct Neighbour {
  std::int32_t to = 0;
  std::int32_t arcs = 0;
  Capacity width = 0;
  std::vector<std::int32_t> links;  ///< dense numbers of the arcs on the path
};

/// The box as the search sees it. `through_gpus`: with ways through another rank of it.
class Candidates {
 public:
  Candidates(const Network& network, PathFinder& finder, const std::vector<Rank>& box,
             bool through_gpus)
      : network_(network), number_(network.graph.arc_count(), -1) {
    collect(finder, box, Through::box, through_gpus);
    // A box whose switches do not join its ranks: those outside do.
    if (stuck()) collect(finder, box, Through::switches, through_gpus);
  }

  [[nodiscard]] std::int32_t size() const { return static_cast<std::int32_t>(near_.size()); }
  [[nodiscard]] const std::vector<Neighbour>& near(std::int32_t u) const {
    return near_[static_cast<std::size_t>(u)];
  }
  [[nodiscard]] const std::vector<Capacity>& capacities() const { return capacities_; }
  [[nodiscard]] bool stuck() const {
    return std::any_of(near_.begin(), near_.end(), [](const auto& near) { return near.empty(); });
  }

 private:
  void collect(PathFinder& finder, const std::vector<Rank>& box, Through through,
               bool through_gpus) {
    near_.assign(box.size(), {});
    const auto n = static_cast<std::int32_t>(box.size());
    for (std::int32_t u = 0; u < n; ++u) {
      auto& near = near_[static_cast<std::size_t>(u)];
      for (std::int32_t i = 1; i < n; ++i) {
        const std::int32_t v = (u + i) % n;
        const Rank from = box[static_cast<std::size_t>(u)], to = box[static_cast<std::size_t>(v)];
        Path path = finder.find(from, to, through);
        if (path.size() > 2 && i != 1 && i != n - 1) continue;
        if (path.empty() && through_gpus) path = through_gpu(network_, finder, box, from, to);
        if (!path.empty()) near.push_back(neighbour(v, path));
      }
      std::stable_sort(near.begin(), near.end(), [](const Neighbour& a, const Neighbour& b) {
        return a.width != b.width ? a.width > b.width : a.arcs < b.arcs;
      });
    }
  }

  Neighbour neighbour(std::int32_t to, const Path& path) {
    Neighbour found{
        to, static_cast<std::int32_t>(path.size()) - 1, std::numeric_limits<Capacity>::max(), {}};
    for (const ArcId a : arcs_of(network_, path)) {
      found.width = std::min(found.width, network_.capacity[a]);
      found.links.push_back(number(a));
    }
    return found;
  }

  std::int32_t number(ArcId a) {
    if (number_[a] < 0) {
      number_[a] = static_cast<std::int32_t>(capacities_.size());
      capacities_.push_back(network_.capacity[a]);
    }
    return number_[a];
  }

  const Network& network_;
  std::vector<std::vector<Neighbour>> near_;
  IdVector<ArcId, std::int32_t> number_;
  std::vector<Capacity> capacities_;  ///< by dense number
};

using Order = std::vector<std::int32_t>;

/// The search at one speed. Capacities and speed are in the same, finer unit.
class SpeedSearch {
 public:
  SpeedSearch(const Candidates& box, std::vector<Int128> capacity, Int128 speed)
      : box_(box), left_(std::move(capacity)), speed_(speed) {}

  /// The most rings found; `replay`: all like the first.
  std::vector<Order> run(bool replay) {
    replay_ = replay;
    steps_ = replay ? kReplaySteps : kFreeSteps;
    best_.clear();
    next_ring();
    return best_;
  }

 private:
  void next_ring() {
    if (rings_.size() == kMostRings) return;
    Order order(static_cast<std::size_t>(box_.size()));
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int32_t>(i);
    if (!rings_.empty()) order = rings_.back();
    follow(order);
    if (replay_ && !rings_.empty()) return;
    for (std::int32_t from = 0; from < box_.size() && steps_ > 0; ++from) begin_at(from, nullptr);
  }

  void follow(const Order& order) {
    Order after(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      after[static_cast<std::size_t>(order[i])] = order[(i + 1) % order.size()];
    }
    begin_at(order.front(), &after);
  }

  void begin_at(std::int32_t from, const Order* after) {
    std::vector<bool> visited(static_cast<std::size_t>(box_.size()), false);
    Order path = {from};
    std::swap(visited, visited_);
    std::swap(path, path_);
    visited_[static_cast<std::size_t>(from)] = true;
    visit(after);
    std::swap(visited, visited_);
    std::swap(path, path_);
  }

  // `after` says where to go from each rank; null: anywhere.
  void visit(const Order* after) {
    if (steps_ <= 0) return;
    --steps_;
    const std::int32_t at = path_.back();
    const bool closes = static_cast<std::int32_t>(path_.size()) == box_.size();
    for (const Neighbour& next : box_.near(at)) {
      if (closes ? next.to != path_.front() : visited_[static_cast<std::size_t>(next.to)]) continue;
      if (!closes && after != nullptr && (*after)[static_cast<std::size_t>(at)] != next.to)
        continue;
      if (!take(next)) continue;
      if (closes) {
        complete();
      } else {
        visited_[static_cast<std::size_t>(next.to)] = true;
        path_.push_back(next.to);
        visit(after);
        path_.pop_back();
        visited_[static_cast<std::size_t>(next.to)] = false;
      }
      give_back(next);
      if (steps_ <= 0) return;
    }
  }

  void complete() {
    rings_.push_back(path_);
    if (rings_.size() > best_.size()) best_ = rings_;
    next_ring();
    rings_.pop_back();
  }

  bool take(const Neighbour& next) {
    for (std::size_t i = 0; i < next.links.size(); ++i) {
      Int128& left = left_[static_cast<std::size_t>(next.links[i])];
      left -= speed_;
      if (left >= 0) continue;
      for (std::size_t j = 0; j <= i; ++j) {
        left_[static_cast<std::size_t>(next.links[j])] += speed_;
      }
      return false;
    }
    return true;
  }

  void give_back(const Neighbour& next) {
    for (const std::int32_t link : next.links) left_[static_cast<std::size_t>(link)] += speed_;
  }

  const Candidates& box_;
  std::vector<Int128> left_;
  Int128 speed_;
  bool replay_ = false;
  std::int64_t steps_ = 0;
  std::vector<bool> visited_;
  Order path_;
  std::vector<Order> rings_, best_;
};

// 840 is a multiple of 1 … 8; the unit's numerator makes whole GB/s whole. Capacities times it stay
// below 840 · 2^62, by what `to_digraph` refuses.
Int128 refinement(const Network& network) {
  return Int128{840} * network.unit.num();
}

std::set<Int128, std::greater<>> speeds(const Candidates& box, const Network& network,
                                        bool nccl_constants) {
  std::set<Int128, std::greater<>> all;
  if (nccl_constants) {
    for (const std::int64_t speed : kNcclSpeeds) {
      all.insert(Int128{840} * network.unit.den() * speed);
    }
    return all;
  }
  for (const Capacity capacity : box.capacities()) {
    for (std::int64_t share = 1; share <= kMostShares; ++share) {
      all.insert(refinement(network) * capacity / share);
    }
    while (all.size() > kMostSpeeds) all.erase(std::prev(all.end()));
  }
  return all;
}

// No set of rings carries more: each takes its speed out of every rank.
Int128 most_out(const Candidates& box, const std::vector<Int128>& capacity) {
  std::optional<Int128> most;
  for (std::int32_t u = 0; u < box.size(); ++u) {
    std::set<std::int32_t> first;
    for (const Neighbour& next : box.near(u)) first.insert(next.links.front());
    Int128 sum = 0;
    for (const std::int32_t link : first) sum += capacity[static_cast<std::size_t>(link)];
    if (!most || sum < *most) most = sum;
  }
  return most.value_or(0);
}

}  // namespace

Path through_gpu(const Network& network, PathFinder& finder, const std::vector<Rank>& box,
                 Rank from, Rank to) {
  Path path = finder.find(from, to, Through::ranks);
  const auto is_between = [&](Rank rank) { return network.ranks[rank.index()] == path[1]; };
  if (path.size() != 3 || std::ranges::none_of(box, is_between)) return {};
  return path;
}

RingOrders search_rings(const Network& network, PathFinder& finder, const std::vector<Rank>& box,
                        const BaselineOptions& options) {
  if (box.size() == 1) return {{{0}}, 0};
  std::vector<Candidates> ways = {Candidates(network, finder, box, false)};
  using Gpus = BaselineOptions::ThroughGpus;
  if (options.through_gpus != Gpus::no) ways.emplace_back(network, finder, box, true);
  RingOrders best;
  if (ways.back().stuck()) return best;
  std::vector<std::vector<Int128>> capacities;
  for (const Candidates& each : ways) {
    capacities.emplace_back();
    for (const Capacity c : each.capacities()) {
      capacities.back().push_back(refinement(network) * c);
    }
  }
  const Int128 limit = most_out(ways.back(), capacities.back());
  Int128 best_sum = 0;
  std::size_t best_way = 0;
  for (const Int128 speed : speeds(ways.back(), network, options.nccl_constants)) {
    for (std::size_t w = 0; w < ways.size(); ++w) {
      const bool is_spared = w > best_way && best_sum > 0 && options.through_gpus == Gpus::as_nccl;
      if (is_spared) continue;
      for (const bool replay : {true, false}) {
        if (best_sum == limit) return best;
        auto orders = SpeedSearch(ways[w], capacities[w], speed).run(replay);
        const Int128 sum = speed * static_cast<std::int64_t>(orders.size());
        if (sum <= best_sum) continue;
        best_sum = sum;
        best_way = w;
        const auto gbs = Ratio::reduced(speed, Int128{840} * network.unit.den());
        best = {std::move(orders), gbs.value_or(Ratio(0))};
      }
    }
  }
  return best;
}

}  // namespace forestcoll::baseline
