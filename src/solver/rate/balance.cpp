#include "solver/rate/balance.hpp"

namespace forestcoll::solver {

bool is_balanced(const Digraph& graph, const IdVector<ArcId, Capacity>& capacity,
                 const IdVector<NodeId, Rank>& rank_of) {
  IdVector<NodeId, Capacity> excess(graph.node_count(), 0);
  for (std::size_t a = 0; a < graph.arc_count(); ++a) {
    excess[graph.head(ArcId(a))] += capacity[ArcId(a)];
    excess[graph.tail(ArcId(a))] -= capacity[ArcId(a)];
  }
  for (std::size_t v = 0; v < graph.node_count(); ++v) {
    if (!rank_of[NodeId(v)].valid() && excess[NodeId(v)] != 0) return false;
  }
  return true;
}

bool is_balanced(const Core& core) {
  return is_balanced(core.graph, core.capacity, core.rank_of);
}

bool has_balanced_core(const Network& network) {
  return is_balanced(make_core(network, network.capacity));
}

}  // namespace forestcoll::solver
