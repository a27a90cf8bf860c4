// Prim's algorithm with congestion for length. A way to a rank leads from a rank of the tree
// through switches; it is as long as its most congested arc would be once this tree takes it too.
// Every arc waits in the queue once, and once more where its length has grown by the time that its
// turn comes: that bounds the work, and the lengths need not be exact.
#include "solver/quick_forest.hpp"

#include <algorithm>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "forestcoll/route_builder.hpp"
#include "solver/scale.hpp"

namespace forestcoll::solver {
namespace {

class QuickForest {
 public:
  QuickForest(const Network& network, const Weights& weights)
      : network_(network),
        weights_(weights),
        load_(network.graph.arc_count(), 0),
        cost_(network.graph.arc_count(), 1),
        routes_(network.ranks) {
    const Capacity widest = *std::max_element(network.capacity.begin(), network.capacity.end());
    for (std::size_t a = 0; a < cost_.size(); ++a) {
      cost_[ArcId(a)] = (widest - 1) / network.capacity[ArcId(a)] + 1;
    }
  }

  Packing build() {
    std::vector<Forest::Tree> trees;
    std::vector<Route> rows;
    for (std::size_t r = 0; r < network_.ranks.size(); ++r) {
      if (weights_[Rank(r)] == 0) continue;
      const std::int32_t height = grow(Rank(r));
      trees.push_back({Rank(r), weights_[Rank(r)], height});
      rows.insert(rows.end(), row_.begin(), row_.end());
    }
    Ratio scale = 0;
    for (std::size_t a = 0; a < load_.size(); ++a) {
      scale = std::max(scale, Ratio(load_[ArcId(a)], network_.capacity[ArcId(a)]));
    }
    return {Forest(routes_.take(), std::move(trees), std::move(rows)),
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
      if (now > next.length && !next.again) {
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
    walk_back(arc, [&](ArcId a) {
      length = std::max(length, Int128{load_[a] + multiplicity_} * cost_[a]);
    });
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
      load_[a] += multiplicity_;
      path_.push_back(network_.graph.tail(a));
    });
    std::reverse(path_.begin(), path_.end());
    row_[network_.rank_of[rank].index()] = routes_.add(network_.rank_of[path_.front()], path_);
  }

  const Network& network_;
  const Weights& weights_;
  IdVector<ArcId, std::int64_t> load_;
  IdVector<ArcId, std::int64_t> cost_;  ///< of one unit of load, about
  RouteBuilder routes_;
  std::int64_t multiplicity_ = 0;  ///< of the tree at hand
  std::vector<ArcId> into_;        ///< by which each node is reached
  std::vector<bool> reached_;
  std::vector<Route> row_;
  std::vector<NodeId> path_;
  std::priority_queue<Entry> queue_;
};

}  // namespace

Packing quick_forest(const Network& network, const Weights& weights) {
  return QuickForest(network, weights).build();
}

}  // namespace forestcoll::solver
