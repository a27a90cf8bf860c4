// If all trees are stars, every rank sends to every other through switches alone. For any lengths
// of the arcs, what is sent times the length of the shortest path cannot add up to more than
// capacity times length over all arcs. Lengths that show that it does are looked for by raising
// those of the busiest arcs.
#include <algorithm>
#include <boost/pending/disjoint_sets.hpp>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "forestcoll/ratio.hpp"
#include "solver/common/dijkstra.hpp"
#include "solver/height/bound/cuts.hpp"

namespace forestcoll::solver {
namespace {

// Steps: a tenth of a second at most.
constexpr std::int64_t kMostStarSteps = std::int64_t{1} << 24;
constexpr int kStarRounds = 6;

// Shortest paths from each rank to all others through switches, by integral lengths.
//
// A rank that one switch alone reaches, and that reaches it alone, sends and gets the same over its
// two arcs whatever the lengths. It is left out of the searches: its switch sends and gets for it.
class StarLengths {
 public:
  StarLengths(const Network& network, const Weights& weights, const Scaling& scaling)
      : network_(network),
        weights_(weights),
        scaling_(scaling),
        length_(network.graph.arc_count(), 1),
        fixed_load_(network.graph.arc_count(), 0),
        sends_(network.graph.node_count(), 0),
        gets_(network.graph.node_count(), 0) {
    for (const NodeId v : network.ranks) all_trees_ += trees(v);
    for (const NodeId v : network.ranks) place(v);
    gather_inner_arcs();
  }

  /// Searches of one round.
  [[nodiscard]] std::int64_t searches() const {
    return std::count_if(sends_.begin(), sends_.end(),
                         [](std::int64_t trees) { return trees > 0; });
  }

  /// Do the shortest paths need more than there is? Finds what they use of each arc.
  bool refuted() {
    load_ = fixed_load_;
    for (std::size_t v = 0; v < sends_.size(); ++v) {
      if (sends_[v] > 0 && !load_ways_from(NodeId(v))) return true;
    }
    Int128 needed = 0, there = 0;
    for (std::size_t a = 0; a < length_.size(); ++a) {
      needed += load_[a] * length_[a];
      there += Int128{scaling_.capacity[ArcId(a)]} * length_[a];
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
  [[nodiscard]] std::int64_t trees(NodeId rank) const {
    return weights_[network_.rank_of[rank]] * scaling_.k;
  }

  // Where the searches see it.
  void place(NodeId rank) {
    NodeId at = rank;
    const ArcId up = only_way_out(rank), down = only_way_in(rank);
    if (up.valid() && down.valid() && network_.graph.head(up) == network_.graph.tail(down) &&
        !network_.is_compute(network_.graph.head(up))) {
      at = network_.graph.head(up);
      fixed_load_[up.index()] =
          Int128{trees(rank)} * (static_cast<std::int64_t>(network_.ranks.size()) - 1);
      fixed_load_[down.index()] = all_trees_ - trees(rank);
    }
    sends_[at.index()] += trees(rank);
    gets_[at.index()] += 1;
  }

  [[nodiscard]] ArcId only_way_out(NodeId rank) const {
    ArcId only;
    for (ArcId a = network_.graph.first_out(rank); a != network_.graph.last_out(rank); ++a.value) {
      if (scaling_.capacity[a] > 0 && std::exchange(only, a).valid()) return ArcId();
    }
    return only;
  }

  [[nodiscard]] ArcId only_way_in(NodeId rank) const {
    ArcId only;
    for (const ArcId a : network_.graph.in(rank)) {
      if (scaling_.capacity[a] > 0 && std::exchange(only, a).valid()) return ArcId();
    }
    return only;
  }

  // Those that paths may take before they are there.
  void gather_inner_arcs() {
    for (std::size_t v = 0; v < gets_.size(); ++v) {
      first_inner_.push_back(inner_.size());
      const NodeId tail(v);
      for (ArcId a = network_.graph.first_out(tail); a != network_.graph.last_out(tail);
           ++a.value) {
        const NodeId head = network_.graph.head(a);
        const bool leads_on = !network_.is_compute(head) || gets_[head.index()] > 0;
        if (scaling_.capacity[a] > 0 && leads_on) inner_.push_back(a);
      }
    }
    first_inner_.push_back(inner_.size());
  }

  // Lengths stay below 2^20.
  void normalize() {
    const std::int64_t longest = *std::max_element(length_.begin(), length_.end());
    for (auto& length : length_) {
      length = std::max<std::int64_t>(1, length * (1 << 20) / std::max<std::int64_t>(longest, 1));
    }
  }

  // False where there is no path to some rank.
  bool load_ways_from(NodeId source) {
    passing_.assign(network_.graph.node_count(), 0);
    search_.run(network_.graph.node_count(), source, [&](NodeId v, std::int64_t distance) {
      // No path goes on from a rank.
      if (network_.is_compute(v) && v != source) return true;
      for (std::size_t i = first_inner_[v.index()]; i < first_inner_[v.index() + 1]; ++i) {
        const ArcId a = inner_[i];
        search_.reach(network_.graph.head(a), a, distance + length_[a.index()]);
      }
      return true;
    });
    // What arrives at a node has come by its last arc.
    std::int64_t reached = gets_[source.index()];
    const std::vector<NodeId>& order = search_.reached();
    for (std::size_t i = order.size(); i-- > 1;) {
      const NodeId v = order[i];
      reached += gets_[v.index()];
      const ArcId by = search_.by(v);
      const Int128 load = passing_[v.index()] + Int128{sends_[source.index()]} * gets_[v.index()];
      load_[by.index()] += load;
      passing_[network_.graph.tail(by).index()] += load;
    }
    return reached == static_cast<std::int64_t>(network_.ranks.size());
  }

  const Network& network_;
  const Weights& weights_;
  const Scaling& scaling_;
  std::int64_t all_trees_ = 0;
  std::vector<std::int64_t> length_;  ///< by arc
  std::vector<Int128> fixed_load_, load_;
  std::vector<std::int64_t> sends_;  ///< by node: trees that begin here
  std::vector<std::int64_t> gets_;   ///< by node: ranks that get them here
  std::vector<std::size_t> first_inner_;
  std::vector<ArcId> inner_;     ///< by tail
  std::vector<Int128> passing_;  ///< by node: trees that go on from here
  Dijkstra search_;
};

// The switch that a rank hangs on by its only links; invalid where there is none.
NodeId only_switch(const Network& network, const Scaling& scaling, NodeId rank) {
  const Digraph& graph = network.graph;
  std::vector<NodeId> neighbours;
  for (ArcId a = graph.first_out(rank); a != graph.last_out(rank); ++a.value) {
    if (scaling.capacity[a] > 0) neighbours.push_back(graph.head(a));
  }
  for (const ArcId a : graph.in(rank)) {
    if (scaling.capacity[a] > 0) neighbours.push_back(graph.tail(a));
  }
  if (neighbours.empty() || network.is_compute(neighbours.front())) return NodeId();
  const bool alone = std::count(neighbours.begin(), neighbours.end(), neighbours.front()) ==
                     static_cast<std::ptrdiff_t>(neighbours.size());
  return alone ? neighbours.front() : NodeId();
}

// All that the ranks on a switch send to others, and get from them, passes its other links.
bool some_switch_is_too_narrow(const Network& network, const Weights& weights,
                               const Scaling& scaling) {
  const std::size_t nodes = network.graph.node_count();
  IdVector<NodeId, Int128> ranks(nodes, 0), trees(nodes, 0), out(nodes, 0), in(nodes, 0);
  IdVector<NodeId, NodeId> hub(nodes);
  Int128 all = 0;
  for (std::size_t r = 0; r < network.ranks.size(); ++r) {
    const NodeId v = network.ranks[r];
    const Int128 own = Int128{weights[Rank(r)]} * scaling.k;
    all += own;
    hub[v] = only_switch(network, scaling, v);
    if (!hub[v].valid()) continue;
    ranks[hub[v]] += 1;
    trees[hub[v]] += own;
  }
  for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
    const NodeId tail = network.graph.tail(ArcId(a)), head = network.graph.head(ArcId(a));
    if (hub[head] != tail) out[tail] += scaling.capacity[ArcId(a)];
    if (hub[tail] != head) in[head] += scaling.capacity[ArcId(a)];
  }
  const auto everyone = static_cast<Int128>(network.ranks.size());
  for (std::size_t v = 0; v < nodes; ++v) {
    const NodeId w(v);
    if (trees[w] * (everyone - ranks[w]) > out[w] || (all - trees[w]) * ranks[w] > in[w]) {
      return true;
    }
  }
  return false;
}

// How many hops each node is from the nearest rank, whatever the direction of the arcs.
IdVector<NodeId, std::int32_t> tiers(const Network& network,
                                     const IdVector<ArcId, Capacity>& capacity) {
  const std::size_t nodes = network.graph.node_count();
  IdVector<NodeId, std::vector<NodeId>> neighbours(nodes);
  for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
    if (capacity[ArcId(a)] == 0) continue;
    const Arc& arc = network.graph.arcs()[a];
    neighbours[arc.tail].push_back(arc.head);
    neighbours[arc.head].push_back(arc.tail);
  }
  IdVector<NodeId, std::int32_t> tier(nodes, -1);
  std::vector<NodeId> queue = network.ranks;
  for (const NodeId rank : queue) tier[rank] = 0;
  for (std::size_t q = 0; q < queue.size(); ++q) {
    for (const NodeId next : neighbours[queue[q]]) {
      if (tier[next] >= 0) continue;
      tier[next] = tier[queue[q]] + 1;
      queue.push_back(next);
    }
  }
  return tier;
}

/// The links that leave some of the ranks, and that lead to them.
struct Part {
  std::vector<Rank> ranks;
  Int128 out = 0, in = 0;
};

// The parts into which the fabric falls without its upper switches: racks, pods. All that the ranks
// of a part send to others, and get from them, passes the links that leave it.
template <class IsTooNarrow>
bool some_part_is_too_narrow(const Network& network, const IdVector<ArcId, Capacity>& capacity,
                             const IsTooNarrow& is_too_narrow) {
  const auto tier = tiers(network, capacity);
  const std::int32_t top = *std::max_element(tier.begin(), tier.end());
  for (std::int32_t height = 0; height < top; ++height) {
    boost::disjoint_sets_with_storage<> joined(tier.size());
    for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
      const Arc& arc = network.graph.arcs()[a];
      if (capacity[ArcId(a)] > 0 && std::max(tier[arc.tail], tier[arc.head]) <= height) {
        joined.union_set(arc.tail.index(), arc.head.index());
      }
    }
    std::vector<Part> parts(tier.size());
    for (std::size_t r = 0; r < network.ranks.size(); ++r) {
      parts[joined.find_set(network.ranks[r].index())].ranks.emplace_back(r);
    }
    for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
      const Arc& arc = network.graph.arcs()[a];
      const std::size_t from = joined.find_set(arc.tail.index());
      const std::size_t to = joined.find_set(arc.head.index());
      if (from == to) continue;
      parts[from].out += capacity[ArcId(a)];
      parts[to].in += capacity[ArcId(a)];
    }
    if (std::any_of(parts.begin(), parts.end(), is_too_narrow)) return true;
  }
  return false;
}

bool some_part_is_too_narrow(const Network& network, const Weights& weights,
                             const Scaling& scaling) {
  const auto everyone = static_cast<Int128>(network.ranks.size());
  Int128 all = 0;
  for (const std::int64_t weight : weights) all += Int128{weight} * scaling.k;
  return some_part_is_too_narrow(network, scaling.capacity, [&](const Part& part) {
    Int128 trees = 0;
    for (const Rank r : part.ranks) trees += Int128{weights[r]} * scaling.k;
    const auto ranks = static_cast<Int128>(part.ranks.size());
    return trees * (everyone - ranks) > part.out || (all - trees) * ranks > part.in;
  });
}

// Ranks up to which all pairs are looked at.
constexpr std::size_t kMostPaired = 512;

// Where all trees are stars, u sends v what is rooted at u to be broadcast, and what is rooted at v
// to be reduced: x(u) + x(v) is no more than their arc and what passes switches, either way. That
// bounds Σ x, over all pairs and over the narrowest pair of every rank.
bool pairs_are_too_narrow(const Network& network, const Ratio& rate) {
  const std::size_t ranks = network.ranks.size();
  if (ranks > kMostPaired) return false;
  const Digraph& graph = network.graph;
  IdVector<NodeId, Int128> up(graph.node_count(), 0), down(graph.node_count(), 0);
  for (std::size_t a = 0; a < graph.arc_count(); ++a) {
    const Arc& arc = graph.arcs()[a];
    if (!network.is_compute(arc.head)) up[arc.tail] += network.capacity[ArcId(a)];
    if (!network.is_compute(arc.tail)) down[arc.head] += network.capacity[ArcId(a)];
  }
  const auto between = [&](NodeId u, NodeId v) {
    const ArcId arc = graph.find(u, v);
    return std::min(up[u], down[v]) + (arc.valid() ? network.capacity[arc] : 0);
  };
  Int128 all = 0, narrowest = 0;
  for (const NodeId u : network.ranks) {
    std::optional<Int128> least;
    for (const NodeId v : network.ranks) {
      if (u == v) continue;
      const Int128 both = std::min(between(u, v), between(v, u));
      least = std::min(least.value_or(both), both);
      all += both;  // twice, as the pair is met from both sides
    }
    narrowest += *least;
  }
  const Int128 needed = rate.num();
  return 2 * needed * static_cast<Int128>(ranks - 1) > all * rate.den() ||
         needed > narrowest * rate.den();
}

}  // namespace

bool stars_are_impossible(const Network& network, const Weights& weights, const Scaling& scaling) {
  if (some_switch_is_too_narrow(network, weights, scaling) ||
      some_part_is_too_narrow(network, weights, scaling)) {
    return true;
  }
  StarLengths lengths(network, weights, scaling);
  for (int round = 0; round < kStarRounds; ++round) {
    if ((round + 1) * lengths.searches() * size_of(network) > kMostStarSteps) return false;
    if (lengths.refuted()) return true;
    lengths.adapt();
  }
  return false;
}

// With x rooted in a part of n of N ranks, x · (N − n) is broadcast from it, and (rate − x) · n is
// reduced out of it: rate · min(n, N − n) at least. As much comes in.
bool allreduce_stars_are_impossible(const Network& network, const Ratio& rate) {
  if (pairs_are_too_narrow(network, rate)) return true;
  const auto everyone = static_cast<Int128>(network.ranks.size());
  return some_part_is_too_narrow(network, network.capacity, [&](const Part& part) {
    const auto ranks = static_cast<Int128>(part.ranks.size());
    const Int128 least = rate.num() * std::min(ranks, everyone - ranks);
    return least > std::min(part.out, part.in) * rate.den();
  });
}

}  // namespace forestcoll::solver
