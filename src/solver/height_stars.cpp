// If all trees are stars, every rank sends to every other through switches alone. For any lengths
// of the arcs, what is sent times the length of the shortest way cannot add up to more than
// capacity times length over all arcs. Lengths that show that it does are looked for by raising
// those of the busiest arcs.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "forestcoll/ratio.hpp"
#include "solver/height_cuts.hpp"

namespace forestcoll::solver {
namespace {

// Steps: a tenth of a second at most.
constexpr std::int64_t kSteps = std::int64_t{1} << 24;
constexpr int kRounds = 6;

std::int64_t size_of(const Network& network) {
  return static_cast<std::int64_t>(network.graph.node_count() + network.graph.arc_count());
}

// Shortest ways from each rank to all others through switches, by integral lengths.
class StarLengths {
 public:
  StarLengths(const Network& network, const Weights& weights, const Scaling& scaling)
      : network_(network),
        weights_(weights),
        scaling_(scaling),
        length_(network.graph.arc_count(), 1) {}

  /// Do the shortest ways need more than there is? Adds what they use to the loads.
  bool refuted() {
    load_.assign(length_.size(), 0);
    Int128 needed = 0, there = 0;
    for (std::size_t a = 0; a < length_.size(); ++a) {
      there += Int128{scaling_.capacity[ArcId(a)]} * length_[a];
    }
    for (std::size_t r = 0; r < network_.ranks.size(); ++r) {
      if (weights_[Rank(r)] > 0) needed += ways_from(Rank(r));
    }
    return needed > there;
  }

  /// Longer where the load was high for the capacity.
  void adapt() {
    Int128 most_load = 0, most_capacity = 1;
    for (std::size_t a = 0; a < length_.size(); ++a) {
      const Capacity capacity = scaling_.capacity[ArcId(a)];
      if (load_[a] * most_capacity > most_load * capacity) {
        most_load = load_[a];
        most_capacity = capacity;
      }
    }
    if (most_load == 0) return;
    for (std::size_t a = 0; a < length_.size(); ++a) {
      const Capacity capacity = scaling_.capacity[ArcId(a)];
      if (capacity == 0) continue;
      const Int128 share = load_[a] * most_capacity * 16 / (most_load * capacity);
      length_[a] = length_[a] * (16 + static_cast<std::int64_t>(share)) / 8;
    }
    normalize();
  }

 private:
  // Lengths stay below 2^20.
  void normalize() {
    const std::int64_t longest = *std::max_element(length_.begin(), length_.end());
    for (auto& length : length_) {
      length = std::max<std::int64_t>(1, length * (1 << 20) / std::max<std::int64_t>(longest, 1));
    }
  }

  Int128 ways_from(Rank root) {
    constexpr std::int64_t far = std::numeric_limits<std::int64_t>::max() / 2;
    const NodeId start = network_.ranks[root.index()];
    distance_.assign(network_.graph.node_count(), far);
    by_.assign(network_.graph.node_count(), ArcId());
    order_.clear();
    distance_[start.index()] = 0;
    heap_.assign(1, {0, start});
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
      const auto [distance, v] = heap_.back();
      heap_.pop_back();
      if (distance > distance_[v.index()]) continue;
      order_.push_back(v);
      if (network_.is_compute(v) && v != start) continue;
      for (ArcId a = network_.graph.first_out(v); a != network_.graph.last_out(v); ++a.value) {
        const NodeId w = network_.graph.head(a);
        const std::int64_t through = distance + length_[a.index()];
        if (scaling_.capacity[a] == 0 || through >= distance_[w.index()]) continue;
        distance_[w.index()] = through;
        by_[w.index()] = a;
        heap_.emplace_back(through, w);
        std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
      }
    }
    return add_load(start, weights_[root] * scaling_.k);
  }

  Int128 add_load(NodeId start, std::int64_t trees) {
    Int128 sum = 0;
    passing_.assign(network_.graph.node_count(), 0);
    for (std::size_t i = order_.size(); i-- > 0;) {
      const NodeId v = order_[i];
      if (v == start) continue;
      if (network_.is_compute(v)) {
        passing_[v.index()] += 1;
        sum += Int128{distance_[v.index()]} * trees;
      }
      const ArcId by = by_[v.index()];
      load_[by.index()] += Int128{passing_[v.index()]} * trees;
      passing_[network_.graph.tail(by).index()] += passing_[v.index()];
    }
    return sum;
  }

  const Network& network_;
  const Weights& weights_;
  const Scaling& scaling_;
  std::vector<std::int64_t> length_;  ///< by arc
  std::vector<Int128> load_;
  std::vector<std::int64_t> distance_, passing_;
  std::vector<ArcId> by_;
  std::vector<NodeId> order_;
  std::vector<std::pair<std::int64_t, NodeId>> heap_;
};

}  // namespace

bool stars_are_impossible(const Network& network, const Weights& weights, const Scaling& scaling) {
  const auto ranks = static_cast<std::int64_t>(network.ranks.size());
  StarLengths lengths(network, weights, scaling);
  for (int round = 0; round < kRounds; ++round) {
    if (round * ranks * size_of(network) > kSteps) return false;
    if (lengths.refuted()) return true;
    lengths.adapt();
  }
  return false;
}

}  // namespace forestcoll::solver
