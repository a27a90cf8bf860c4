// Let X be a set of nodes. Every tree whose root is outside enters X. Where the capacity into X is
// no more than these trees need (X is tight), each enters exactly once, none of the trees rooted
// inside comes back once it has left, and every unit of every arc into X is used. So
//  * a tree rooted in X spans X by paths inside X;
//  * a tree that enters through arc a first reaches some rank y of X, and goes on from there
//    inside X: its height is at least the hops from its root to y through a, outside X until then,
//    and from y to the farthest rank inside X;
//  * for any arcs A into X, the roots that can enter low enough through one of A must have as many
//    trees as A has capacity (Hall's condition).
// A single rank is entered exactly once anyway; its last point holds less the capacity to spare.
#include "solver/height/bound/cuts.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <vector>

#include "graph/sink_flow.hpp"
#include "solver/common/demand_check.hpp"
#include "solver/common/sink_order.hpp"

namespace forestcoll::solver {
namespace {

// Steps: a tenth of a second at most.
constexpr std::int64_t kFlowSteps = std::int64_t{1} << 25;
constexpr std::int64_t kCutSteps = std::int64_t{1} << 23;

// Arcs into a set for which all subsets are tried.
constexpr std::size_t kMaxEntries = 10;

constexpr std::int32_t kFar = std::numeric_limits<std::int32_t>::max() / 2;

// Hops between ranks, any way through switches being one, over the arcs that `allowed` admits.
class Hops {
 public:
  Hops(const Network& network, const IdVector<ArcId, Capacity>& capacity)
      : network_(network), capacity_(capacity) {}

  /// From `start` to every node over arcs inside `inside`; a switch's value counts the hop that
  /// passes it. kFar where there is no way.
  const std::vector<std::int32_t>& from(NodeId start, const SinkSide& inside) {
    return search(start, 0, [&](NodeId v, auto&& visit) {
      for (ArcId a = network_.graph.first_out(v); a != network_.graph.last_out(v); ++a.value) {
        const NodeId w = network_.graph.head(a);
        if (capacity_[a] > 0 && inside[w.index()]) visit(w);
      }
    });
  }

  /// From every node to the head of `arc`, through it and until then outside `inside`.
  const std::vector<std::int32_t>& into(ArcId arc, const SinkSide& inside) {
    return search(network_.graph.tail(arc), 1, [&](NodeId v, auto&& visit) {
      for (const ArcId a : network_.graph.in(v)) {
        const NodeId w = network_.graph.tail(a);
        if (capacity_[a] > 0 && !inside[w.index()]) visit(w);
      }
    });
  }

  [[nodiscard]] std::int64_t steps() const { return steps_; }

 private:
  // Breadth first by hops: a step on from a rank begins a new hop, one on from a switch does not.
  template <class Neighbours>
  const std::vector<std::int32_t>& search(NodeId start, std::int32_t first, Neighbours&& of) {
    hops_.assign(network_.graph.node_count(), kFar);
    steps_ += static_cast<std::int64_t>(hops_.size());
    hops_[start.index()] = first;
    level_.assign(1, start);
    for (std::int32_t hop = first; !level_.empty(); ++hop) {
      next_.clear();
      for (std::size_t i = 0; i < level_.size(); ++i) {
        const NodeId v = level_[i];
        if (hops_[v.index()] < hop) continue;
        const bool is_rank = network_.is_compute(v);
        of(v, [&](NodeId w) {
          ++steps_;
          const std::int32_t reached = is_rank ? hop + 1 : hop;
          if (hops_[w.index()] <= reached) return;
          hops_[w.index()] = reached;
          (is_rank ? next_ : level_).push_back(w);
        });
      }
      std::swap(level_, next_);
    }
    return hops_;
  }

  const Network& network_;
  const IdVector<ArcId, Capacity>& capacity_;
  std::vector<std::int32_t> hops_;
  std::vector<NodeId> level_, next_;
  std::int64_t steps_ = 0;
};

class CutHeights {
 public:
  CutHeights(const Network& network, const Weights& weights, const Scaling& scaling)
      : network_(network),
        weights_(weights),
        scaling_(scaling),
        hops_(network, scaling.capacity),
        owed_(std::accumulate(weights.begin(), weights.end(), std::int64_t{0}) * scaling.k) {}

  std::int32_t run() {
    for (const NodeId v : network_.ranks) {
      if (hops_.steps() > kCutSteps) break;
      SinkSide single(network_.graph.node_count(), false);
      single[v.index()] = true;
      judge(single);
    }
    if (static_cast<std::int64_t>(network_.ranks.size()) * size_of(network_) > kFlowSteps) {
      return height_;
    }
    for (const SinkSide& side : tight_sides()) {
      if (hops_.steps() > 2 * kCutSteps) break;
      judge(side);
    }
    return height_;
  }

 private:
  [[nodiscard]] std::int64_t trees(Rank r) const { return weights_[r] * scaling_.k; }

  // The smallest tight set around each rank; ranks that are done have become sources.
  std::set<SinkSide> tight_sides() {
    graph::SinkFlow flow(network_.graph);
    std::vector<std::int64_t> supply(network_.graph.node_count(), 0);
    for (std::size_t r = 0; r < network_.ranks.size(); ++r) {
      supply[network_.ranks[r].index()] = trees(Rank(r));
    }
    const std::vector<std::int64_t> capacity(scaling_.capacity.begin(), scaling_.capacity.end());
    flow.reset(capacity, supply);
    std::set<SinkSide> sides;
    for (const NodeId sink :
         locality_order(network_.graph, scaling_.capacity, network_.ranks, network_.ranks[0])) {
      if (!flow.send(sink, owed_)) break;  // no forest at all
      SinkSide side = flow.tight_sink_side(sink);
      if (std::count(side.begin(), side.end(), true) > 1) sides.insert(std::move(side));
      flow.merge(sink);
    }
    return sides;
  }

  // Raises height_ to what the set forces.
  void judge(const SinkSide& side) {
    ranks_.clear();
    std::int64_t outside = owed_;
    for (std::size_t r = 0; r < network_.ranks.size(); ++r) {
      if (!side[network_.ranks[r].index()]) continue;
      ranks_.push_back(Rank(r));
      outside -= trees(Rank(r));
    }
    entries_.clear();
    std::int64_t slack = -outside;
    for (std::size_t v = 0; v < side.size(); ++v) {
      if (!side[v]) continue;
      for (const ArcId a : network_.graph.in(NodeId(v))) {
        if (side[network_.graph.tail(a).index()] || scaling_.capacity[a] == 0) continue;
        entries_.push_back(a);
        slack += scaling_.capacity[a];
      }
    }
    if (outside == 0 || ranks_.empty() || (ranks_.size() > 1 && slack != 0)) return;
    measure_inside(side);
    judge_entries(side, slack);
  }

  // How far the farthest rank of the set is from each, inside it.
  void measure_inside(const SinkSide& side) {
    reach_.assign(network_.ranks.size(), 0);
    if (ranks_.size() == 1) return;
    for (const Rank r : ranks_) {
      const auto& hops = hops_.from(network_.ranks[r.index()], side);
      for (const Rank to : ranks_) {
        reach_[r.index()] = std::max(reach_[r.index()], hops[network_.ranks[to.index()].index()]);
      }
      if (weights_[r] > 0) raise(reach_[r.index()]);
    }
  }

  void judge_entries(const SinkSide& side, std::int64_t slack) {
    // With a single arc into a single rank nothing but distance counts.
    if (entries_.size() < 2 && ranks_.size() == 1) return;
    // low_[r]: by entry, the least height of a tree of root r that comes in there.
    const std::size_t count = entries_.size();
    const bool subsets = count <= kMaxEntries;
    if (subsets) low_.assign(network_.ranks.size() * count, kFar);
    for (std::size_t e = 0; e < count; ++e) {
      if (hops_.steps() > 2 * kCutSteps) return;
      const std::int32_t after = least_reach_after(entries_[e], side);
      const auto& hops = hops_.into(entries_[e], side);
      lows_.clear();
      for (std::size_t r = 0; r < network_.ranks.size(); ++r) {
        const NodeId root = network_.ranks[r];
        if (side[root.index()] || weights_[Rank(r)] == 0) continue;
        const std::int32_t low = std::min(kFar, hops[root.index()] + after);
        if (subsets) low_[r * count + e] = low;
        lows_.emplace_back(low, trees(Rank(r)));
      }
      judge_arc(scaling_.capacity[entries_[e]] - slack);
    }
    if (subsets && count > 1) judge_subsets(side, slack);
  }

  // The lowest trees that can fill one entry.
  void judge_arc(std::int64_t needed) {
    std::int64_t low_enough = 0;
    for (const auto& [low, trees] : lows_) low_enough += low <= height_ ? trees : 0;
    if (low_enough >= needed) return;
    std::sort(lows_.begin(), lows_.end());
    for (const auto& [low, trees] : lows_) {
      if (needed <= 0) return;
      needed -= trees;
      raise(low);
    }
  }

  // Hall's condition for all sets of entries: the least height at which it holds.
  void judge_subsets(const SinkSide& side, std::int64_t slack) {
    const std::size_t count = entries_.size();
    while (true) {
      // trees_by_[S]: trees of the roots that can use exactly the entries S at this height.
      trees_by_.assign(std::size_t{1} << count, 0);
      for (std::size_t r = 0; r < network_.ranks.size(); ++r) {
        if (side[network_.ranks[r].index()]) continue;
        std::size_t usable = 0;
        for (std::size_t e = 0; e < count; ++e) {
          usable |= static_cast<std::size_t>(low_[r * count + e] <= height_) << e;
        }
        trees_by_[usable] += trees(Rank(r));
      }
      // Then of those that can use no more than S.
      for (std::size_t e = 0; e < count; ++e) {
        for (std::size_t s = 0; s < trees_by_.size(); ++s) {
          if (s >> e & 1) trees_by_[s] += trees_by_[s ^ (std::size_t{1} << e)];
        }
      }
      if (holds(slack)) return;
      ++height_;
      if (height_ >= static_cast<std::int32_t>(network_.ranks.size())) return;
    }
  }

  [[nodiscard]] bool holds(std::int64_t slack) const {
    const std::size_t all = trees_by_.size() - 1;
    for (std::size_t s = 1; s <= all; ++s) {
      std::int64_t needed = -slack;
      for (std::size_t e = 0; e < entries_.size(); ++e) {
        if (s >> e & 1) needed += scaling_.capacity[entries_[e]];
      }
      if (trees_by_[all] - trees_by_[all ^ s] < needed) return false;
    }
    return true;
  }

  // From the best rank that the route through `arc` can end at, to the farthest inside.
  std::int32_t least_reach_after(ArcId arc, const SinkSide& side) {
    const NodeId head = network_.graph.head(arc);
    if (network_.is_compute(head)) return reach_[network_.rank_of[head].index()];
    std::int32_t least = kFar;
    const auto& hops = hops_.from(head, side);
    for (const Rank r : ranks_) {
      // A switch begins no hop: what it reaches without passing a rank is at 0.
      if (hops[network_.ranks[r.index()].index()] == 0) {
        least = std::min(least, reach_[r.index()]);
      }
    }
    return least;
  }

  void raise(std::int32_t to) {
    if (to < kFar) height_ = std::max(height_, to);
  }

  const Network& network_;
  const Weights& weights_;
  const Scaling& scaling_;
  Hops hops_;
  std::int64_t owed_;
  std::int32_t height_ = 1;
  std::vector<Rank> ranks_;          ///< inside the set
  std::vector<ArcId> entries_;       ///< arcs into it
  std::vector<std::int32_t> reach_;  ///< by rank
  std::vector<std::int32_t> low_;
  std::vector<std::pair<std::int32_t, std::int64_t>> lows_;
  std::vector<std::int64_t> trees_by_;
};

}  // namespace

std::int32_t height_forced_by_cuts(const Network& network, const Weights& weights,
                                   const Scaling& scaling) {
  return CutHeights(network, weights, scaling).run();
}

}  // namespace forestcoll::solver
