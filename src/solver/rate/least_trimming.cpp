#include "solver/rate/least_trimming.hpp"

#include <lemon/network_simplex.h>
#include <lemon/smart_graph.h>

#include <vector>

namespace forestcoll::solver {

std::optional<IdVector<ArcId, Capacity>> least_trimming(const Digraph& graph,
                                                        const IdVector<ArcId, Capacity>& capacity,
                                                        const IdVector<ArcId, Capacity>& least,
                                                        const IdVector<NodeId, Rank>& rank_of,
                                                        const IdVector<ArcId, std::int64_t>& cost) {
  using Graph = lemon::SmartDigraph;
  Graph loss;
  const Graph::Node compute = loss.addNode();  // may lose any amount on either side
  std::vector<Graph::Node> node;
  for (std::size_t v = 0; v < graph.node_count(); ++v) {
    node.push_back(rank_of[NodeId(v)].valid() ? compute : loss.addNode());
  }
  Graph::ArcMap<Capacity> most(loss);
  Graph::ArcMap<std::int64_t> price(loss);
  Graph::NodeMap<Capacity> more_leaves(loss, 0);
  std::vector<Graph::Arc> arc_of(graph.arc_count(), lemon::INVALID);
  for (std::size_t a = 0; a < graph.arc_count(); ++a) {
    const Graph::Node tail = node[graph.tail(ArcId(a)).index()];
    const Graph::Node head = node[graph.head(ArcId(a)).index()];
    if (tail == head) continue;  // between compute nodes: nothing to lose
    arc_of[a] = loss.addArc(tail, head);
    most[arc_of[a]] = capacity[ArcId(a)] - least[ArcId(a)];
    price[arc_of[a]] = cost[ArcId(a)];
    more_leaves[tail] += capacity[ArcId(a)];
    more_leaves[head] -= capacity[ArcId(a)];
  }
  Capacity balance = 0;
  for (std::size_t v = 0; v < graph.node_count(); ++v) {
    if (node[v] != compute) balance += more_leaves[node[v]];
  }
  more_leaves[compute] = -balance;

  using Simplex = lemon::NetworkSimplex<Graph, Capacity, std::int64_t>;
  Simplex simplex(loss);
  simplex.upperMap(most).costMap(price).supplyMap(more_leaves);
  if (simplex.run() != Simplex::OPTIMAL) return std::nullopt;
  IdVector<ArcId, Capacity> left = capacity;
  for (std::size_t a = 0; a < graph.arc_count(); ++a) {
    if (arc_of[a] != lemon::INVALID) left[ArcId(a)] -= simplex.flow(arc_of[a]);
  }
  return left;
}

}  // namespace forestcoll::solver
