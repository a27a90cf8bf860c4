#include "solver/common/sink_order.hpp"

#include <queue>
#include <tuple>

namespace forestcoll::solver {

std::vector<NodeId> locality_order(const Digraph& graph, const IdVector<ArcId, Capacity>& capacity,
                                   std::span<const NodeId> sinks, NodeId start) {
  std::vector<bool> is_sink(graph.node_count(), false);
  for (const NodeId v : sinks) is_sink[v.index()] = true;

  // Widest first, then lowest id, so that the order does not depend on the queue's internals.
  using Entry = std::tuple<Capacity, std::int32_t>;
  std::priority_queue<Entry> queue;
  std::vector<bool> met(graph.node_count(), false);
  std::vector<NodeId> order;
  const auto visit_from = [&](NodeId first) {
    queue.emplace(0, -first.value);
    while (!queue.empty()) {
      const NodeId v(-std::get<1>(queue.top()));
      queue.pop();
      if (met[v.index()]) continue;
      met[v.index()] = true;
      if (is_sink[v.index()]) order.push_back(v);
      for (ArcId a = graph.first_out(v); a != graph.last_out(v); ++a.value) {
        const NodeId w = graph.head(a);
        if (!met[w.index()]) queue.emplace(capacity[a], -w.value);
      }
    }
  };
  visit_from(start);
  for (const NodeId v : sinks) {
    if (!met[v.index()]) visit_from(v);
  }
  return order;
}

}  // namespace forestcoll::solver
