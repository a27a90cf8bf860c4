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
//
// Ranks that send into one switch alone share the ways from there, so that one search serves them
// all; and no way goes on from a rank, so that searches queue switches only.
class StarLengths {
 public:
  StarLengths(const Network& network, const Weights& weights, const Scaling& scaling)
      : network_(network),
        weights_(weights),
        scaling_(scaling),
        length_(network.graph.arc_count(), 1) {
    gather_sources();
  }

  /// Searches of one round.
  [[nodiscard]] std::int64_t searches() const { return static_cast<std::int64_t>(sources_.size()); }

  /// Do the shortest ways need more than there is? Finds what they use of each arc.
  bool refuted() {
    load_.assign(length_.size(), 0);
    Int128 needed = 0, there = 0;
    for (std::size_t a = 0; a < length_.size(); ++a) {
      there += Int128{scaling_.capacity[ArcId(a)]} * length_[a];
    }
    for (const Source& source : sources_) needed += ways_from(source);
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
  /// Where a search begins: a rank, or a switch on behalf of ranks that send nowhere else.
  struct Source {
    NodeId start;
    std::vector<ArcId> from;  ///< the arcs of these ranks
  };

  [[nodiscard]] std::int64_t trees(NodeId rank) const {
    return weights_[network_.rank_of[rank]] * scaling_.k;
  }

  void gather_sources() {
    IdVector<NodeId, std::vector<ArcId>> leaves(network_.graph.node_count());
    for (const NodeId v : network_.ranks) {
      if (trees(v) == 0) continue;
      ArcId only;
      int ways = 0;
      for (ArcId a = network_.graph.first_out(v); a != network_.graph.last_out(v); ++a.value) {
        if (scaling_.capacity[a] == 0) continue;
        only = a;
        ++ways;
      }
      if (ways == 1 && !network_.is_compute(network_.graph.head(only))) {
        leaves[network_.graph.head(only)].push_back(only);
      } else {
        sources_.push_back({v, {}});
      }
    }
    for (std::size_t v = 0; v < leaves.size(); ++v) {
      if (!leaves[NodeId(v)].empty()) sources_.push_back({NodeId(v), std::move(leaves[NodeId(v)])});
    }
  }

  // Lengths stay below 2^20.
  void normalize() {
    const std::int64_t longest = *std::max_element(length_.begin(), length_.end());
    for (auto& length : length_) {
      length = std::max<std::int64_t>(1, length * (1 << 20) / std::max<std::int64_t>(longest, 1));
    }
  }

  Int128 ways_from(const Source& source) {
    constexpr std::int64_t far = std::numeric_limits<std::int64_t>::max() / 2;
    distance_.assign(network_.graph.node_count(), far);
    by_.assign(network_.graph.node_count(), ArcId());
    order_.clear();
    distance_[source.start.index()] = 0;
    heap_.assign(1, {0, source.start});
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
      const auto [distance, v] = heap_.back();
      heap_.pop_back();
      if (distance > distance_[v.index()]) continue;
      order_.push_back(v);
      for (ArcId a = network_.graph.first_out(v); a != network_.graph.last_out(v); ++a.value) {
        const NodeId w = network_.graph.head(a);
        const std::int64_t through = distance + length_[a.index()];
        if (scaling_.capacity[a] == 0 || through >= distance_[w.index()]) continue;
        distance_[w.index()] = through;
        by_[w.index()] = a;
        if (network_.is_compute(w)) continue;
        heap_.emplace_back(through, w);
        std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
      }
    }
    return add_load(source);
  }

  Int128 add_load(const Source& source) {
    std::int64_t all = source.from.empty() ? trees(source.start) : 0;
    for (const ArcId a : source.from) all += trees(network_.graph.tail(a));
    passing_.assign(network_.graph.node_count(), 0);
    for (const NodeId v : network_.ranks) {
      if (v != source.start) passing_[v.index()] = all;
    }
    Int128 sum = 0;
    for (const ArcId a : source.from) {
      const NodeId rank = network_.graph.tail(a);
      const Int128 load =
          Int128{trees(rank)} * (static_cast<std::int64_t>(network_.ranks.size()) - 1);
      passing_[rank.index()] -= trees(rank);
      load_[a.index()] += load;
      sum += load * length_[a.index()];
    }
    for (const NodeId v : network_.ranks) {
      sum += Int128{distance_[v.index()]} * passing_[v.index()];
      pass_on(v);
    }
    for (std::size_t i = order_.size(); i-- > 0;) pass_on(order_[i]);
    return sum;
  }

  // What arrives at the node has come by its last arc.
  void pass_on(NodeId v) {
    const ArcId by = by_[v.index()];
    if (!by.valid()) return;
    load_[by.index()] += passing_[v.index()];
    passing_[network_.graph.tail(by).index()] += passing_[v.index()];
  }

  const Network& network_;
  const Weights& weights_;
  const Scaling& scaling_;
  std::vector<Source> sources_;
  std::vector<std::int64_t> length_;  ///< by arc
  std::vector<Int128> load_;
  std::vector<std::int64_t> distance_;
  std::vector<Int128> passing_;  ///< by node: trees that come through
  std::vector<ArcId> by_;
  std::vector<NodeId> order_;  ///< switches, and the start, by distance
  std::vector<std::pair<std::int64_t, NodeId>> heap_;
};

}  // namespace

bool stars_are_impossible(const Network& network, const Weights& weights, const Scaling& scaling) {
  StarLengths lengths(network, weights, scaling);
  for (int round = 0; round < kRounds; ++round) {
    if ((round + 1) * lengths.searches() * size_of(network) > kSteps) return false;
    if (lengths.refuted()) return true;
    lengths.adapt();
  }
  return false;
}

}  // namespace forestcoll::solver
