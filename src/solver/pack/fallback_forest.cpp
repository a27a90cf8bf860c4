// Prim's algorithm with congestion for length. A way to a rank leads from a rank of the tree
// through switches; it is as long as its most congested arc would be once this tree takes it too.
// An arc waits in the queue once, and once more where its length has grown by the time that its
// turn comes, and again where it has grown by an eighth: that bounds the work, and the lengths need
// not be exact.
//
// Where the fabric has automorphisms, a tree loads the arcs with all its images, so that one root
// of each orbit is enough; roots that nothing moves follow, one by one. That can be better or worse
// than each root by itself, which is tried too where it takes no time.
#include "solver/pack/fallback_forest.hpp"

#include <algorithm>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "forestcoll/route_builder.hpp"
#include "solver/common/core.hpp"
#include "solver/rate/scale.hpp"
#include "solver/symmetry/orbits.hpp"
#include "solver/symmetry/symmetry.hpp"

namespace forestcoll::solver {
namespace {

// Tree edges up to which two forests are made: about a second.
constexpr std::size_t kMaxEdgesTwice = std::size_t{1} << 22;

// The network as it stands, each arc for itself.
Core plain_core(const Network& network) {
  Core core{network.graph, network.capacity, network.ranks, network.rank_of, {}, {0}};
  for (const Arc& arc : network.graph.arcs()) {
    core.segment_nodes.push_back(arc.head);
    core.segment_begin.push_back(static_cast<std::int64_t>(core.segment_nodes.size()));
  }
  return core;
}

Orbits largest_orbits(const Network& network, const Weights& weights, const Core& core) {
  for (const Symmetry& group : find_symmetries(network, weights)) {
    if (auto orbits = make_orbits(core, group)) return *std::move(orbits);
  }
  return trivial_orbits(core);
}

class QuickForest {
 public:
  QuickForest(const Network& network, const Weights& weights, const Core& core, Orbits orbits)
      : network_(network),
        weights_(weights),
        core_(core),
        orbits_(std::move(orbits)),
        load_(network.graph.arc_count(), 0),
        cost_(network.graph.arc_count(), 1),
        routes_(network.ranks) {
    const Capacity widest = *std::max_element(network.capacity.begin(), network.capacity.end());
    for (std::size_t a = 0; a < cost_.size(); ++a) {
      cost_[ArcId(a)] = (widest - 1) / network.capacity[ArcId(a)] + 1;
    }
  }

  Packing build() {
    const Symmetry group = orbits_.group;
    std::vector<Rank> fixed;
    for (const Rank root : orbits_.roots) {
      if (weights_[root] == 0) continue;
      if (orbits_.is_moved(root)) {
        add_tree(root);
      } else {
        fixed.push_back(root);
      }
    }
    const std::size_t moved = trees_.size();
    if (!fixed.empty()) {
      for (std::size_t a = 0; a < load_.size(); ++a) load_[ArcId(a)] = load_of(ArcId(a));
      orbits_ = trivial_orbits(core_);
      for (const Rank root : fixed) add_tree(root);
    }
    Ratio scale = 0;
    for (std::size_t a = 0; a < load_.size(); ++a) {
      scale = std::max(scale, Ratio(load_of(ArcId(a)), network_.capacity[ArcId(a)]));
    }
    return {Forest(routes_.take(), std::move(trees_), std::move(rows_), group, moved),
            {1, scale, floor_capacities(network_, scale)},
            {}};
  }

 private:
  struct Entry {
    Int128 length = 0;
    std::int32_t depth = 0;  ///< of the rank at the head, or of the next one after a switch
    ArcId arc;
    bool again = false;
    // Shortest first; then the least depth, so that trees stay low; then by arc.
    bool operator<(const Entry& other) const {
      return std::tie(length, depth, arc) > std::tie(other.length, other.depth, other.arc);
    }
  };

  // Of all trees so far, images counted.
  [[nodiscard]] std::int64_t load_of(ArcId a) const { return load_[orbits_.arc_orbit[a]]; }
  // By one use in the tree at hand.
  [[nodiscard]] std::int64_t more(ArcId a) const { return orbits_.weight[a] * multiplicity_; }

  void add_tree(Rank root) {
    const std::int32_t height = grow(root);
    trees_.push_back({root, weights_[root], height});
    rows_.insert(rows_.end(), row_.begin(), row_.end());
  }

  std::int32_t grow(Rank root) {
    const std::size_t n = network_.graph.node_count();
    multiplicity_ = weights_[root];
    into_.assign(n, ArcId());
    reached_.assign(n, false);
    row_.assign(network_.ranks.size(), Route{});
    queue_ = {};
    reach(network_.ranks[root.index()], 1);
    std::size_t missing = network_.ranks.size() - 1;
    std::int32_t height = 0;
    while (missing > 0) {
      FORESTCOLL_CHECK(!queue_.empty(), "all compute nodes reach one another");
      const Entry next = queue_.top();
      queue_.pop();
      const NodeId head = network_.graph.head(next.arc);
      if (reached_[head.index()]) continue;
      const Int128 now = length_over(next.arc);
      if (now > (next.again ? next.length + next.length / 8 : next.length)) {
        queue_.push({now, next.depth, next.arc, true});
        continue;
      }
      into_[head.index()] = next.arc;
      if (network_.is_compute(head)) {
        attach(head);
        height = std::max(height, next.depth);
        --missing;
        reach(head, next.depth + 1);
      } else {
        reach(head, next.depth);
      }
    }
    return height;
  }

  // Calls `visit` for the arcs of the way that ends with `arc`, the last one first.
  template <class Visit>
  void walk_back(ArcId arc, Visit visit) const {
    visit(arc);
    for (NodeId v = network_.graph.tail(arc); !network_.is_compute(v);
         v = network_.graph.tail(into_[v.index()])) {
      visit(into_[v.index()]);
    }
  }

  [[nodiscard]] Int128 length_over(ArcId arc) const {
    Int128 length = 0;
    walk_back(arc,
              [&](ArcId a) { length = std::max(length, Int128{load_of(a) + more(a)} * cost_[a]); });
    return length;
  }

  // `node` passes on what it has, to ranks at `depth`.
  void reach(NodeId node, std::int32_t depth) {
    reached_[node.index()] = true;
    const Digraph& graph = network_.graph;
    for (ArcId a = graph.first_out(node); a != graph.last_out(node); ++a.value) {
      if (!reached_[graph.head(a).index()]) queue_.push({length_over(a), depth, a, false});
    }
  }

  void attach(NodeId rank) {
    path_.assign(1, rank);
    walk_back(into_[rank.index()], [&](ArcId a) {
      load_[orbits_.arc_orbit[a]] += more(a);
      path_.push_back(network_.graph.tail(a));
    });
    std::reverse(path_.begin(), path_.end());
    row_[network_.rank_of[rank].index()] = routes_.add(network_.rank_of[path_.front()], path_);
  }

  const Network& network_;
  const Weights& weights_;
  const Core& core_;
  Orbits orbits_;
  IdVector<ArcId, std::int64_t> load_;  ///< by the least arc of an orbit
  IdVector<ArcId, std::int64_t> cost_;  ///< of one unit of load, about
  RouteBuilder routes_;
  std::int64_t multiplicity_ = 0;  ///< of the tree at hand
  std::vector<ArcId> into_;        ///< by which each node is reached
  std::vector<bool> reached_;
  std::vector<Forest::Tree> trees_;
  std::vector<Route> rows_;
  std::vector<Route> row_;
  std::vector<NodeId> path_;
  std::priority_queue<Entry> queue_;
};

}  // namespace

Packing quick_forest(const Network& network, const Weights& weights) {
  const Core core = plain_core(network);
  Orbits orbits = largest_orbits(network, weights, core);
  const bool has_images = orbits.group.size() > 1;
  Packing packing = QuickForest(network, weights, core, std::move(orbits)).build();
  const std::size_t edges = network.ranks.size() * network.ranks.size();
  if (!has_images || edges > kMaxEdgesTwice) return packing;
  Packing each = QuickForest(network, weights, core, trivial_orbits(core)).build();
  return each.scaling.scale < packing.scaling.scale ? std::move(each) : std::move(packing);
}

}  // namespace forestcoll::solver
