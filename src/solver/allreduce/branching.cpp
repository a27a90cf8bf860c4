#include "solver/allreduce/branching.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

#include "graph/joined_items.hpp"
#include "solver/allreduce/twin_graph.hpp"

namespace forestcoll::solver {
namespace {

// Where all nodes are nearest to one terminal, two terminals are joined over an arc between what is
// nearest to either.
struct Joint {
  double length = 0;
  NodeId a, b;
  auto operator<=>(const Joint&) const = default;
};

// A minimum spanning tree of the ranks and twins, by their distances.
class TerminalTree {
 public:
  TerminalTree(const AllreduceFabric& fabric, const TwinGraph& twins,
               const IdVector<ArcId, double>& length)
      : fabric_(fabric),
        twins_(twins),
        length_(length),
        distance_(twins.graph.node_count(), std::numeric_limits<double>::infinity()),
        nearest_(twins.graph.node_count()),
        joined_(twins.graph.node_count()),
        degree_(twins.graph.node_count(), 0) {
    find_nearest();
    join();
  }

  [[nodiscard]] int degree(NodeId terminal) const { return degree_[terminal]; }

 private:
  [[nodiscard]] bool is_terminal(NodeId v) const {
    return v.index() >= fabric_.network.graph.node_count() || fabric_.network.is_compute(v);
  }
  [[nodiscard]] double length(ArcId a) const { return length_[twins_.arcs[a.index()].along]; }

  void find_nearest() {
    using Entry = std::pair<double, NodeId>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    const auto reach = [&](NodeId v, double distance, NodeId from) {
      if (distance >= distance_[v]) return;
      distance_[v] = distance;
      nearest_[v] = from;
      queue.emplace(distance, v);
    };
    for (std::size_t v = 0; v < distance_.size(); ++v) {
      if (is_terminal(NodeId(v))) reach(NodeId(v), 0, NodeId(v));
    }
    const Digraph& graph = twins_.graph;
    while (!queue.empty()) {
      const auto [distance, v] = queue.top();
      queue.pop();
      if (distance != distance_[v]) continue;
      for (ArcId a = graph.first_out(v); a != graph.last_out(v); ++a.value) {
        reach(graph.head(a), distance + length(a), nearest_[v]);
      }
      for (const ArcId a : graph.in(v)) {
        reach(graph.tail(a), distance + length(a), nearest_[v]);
      }
    }
  }

  // Kruskal's algorithm.
  void join() {
    std::vector<Joint> joints;
    for (std::size_t i = 0; i < twins_.graph.arc_count(); ++i) {
      const Arc& arc = twins_.graph.arcs()[i];
      const NodeId a = nearest_[arc.tail], b = nearest_[arc.head];
      if (a == b || !a.valid() || !b.valid()) continue;
      const double between = distance_[arc.tail] + length(ArcId(i)) + distance_[arc.head];
      joints.push_back({between, std::min(a, b), std::max(a, b)});
    }
    std::ranges::sort(joints);
    for (const Joint& joint : joints) {
      if (!joined_.join(joint.a.index(), joint.b.index())) continue;
      ++degree_[joint.a];
      ++degree_[joint.b];
    }
  }

  const AllreduceFabric& fabric_;
  const TwinGraph& twins_;
  const IdVector<ArcId, double>& length_;
  IdVector<NodeId, double> distance_;  // to the nearest terminal
  IdVector<NodeId, NodeId> nearest_;
  graph::JoinedItems joined_;
  IdVector<NodeId, int> degree_;
};

}  // namespace

std::vector<NodeId> cheap_branching(const AllreduceFabric& fabric, bool turned,
                                    const IdVector<ArcId, double>& length) {
  std::vector<NodeId> spanned = able_switches(fabric.roles, turned);
  while (true) {
    const TwinGraph twins = make_twin_graph(fabric.network, fabric.roles, spanned, turned);
    const TerminalTree tree(fabric, twins, length);
    std::vector<NodeId> branching;
    for (std::size_t i = 0; i < spanned.size(); ++i) {
      // Where a sum is held two branches are enough, each for both phases.
      const int least = fabric.roles[spanned[i]].is_root() ? 2 : 3;
      if (tree.degree(twins.twin(i)) >= least) branching.push_back(spanned[i]);
    }
    if (branching.size() == spanned.size()) return spanned;
    spanned = std::move(branching);
  }
}

}  // namespace forestcoll::solver
