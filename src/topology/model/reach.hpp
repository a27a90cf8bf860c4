// Which nodes are found from one.
#pragma once

#include <vector>

#include "forestcoll/digraph.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"

namespace forestcoll::topology {

/// Along arcs, or against them, that `may_pass(arc, to)` lets through to the node `to`.
/// Cost: O(n + m).
template <class MayPass>
IdVector<NodeId, bool> found_from(const Digraph& graph, NodeId first, bool backwards,
                                  const MayPass& may_pass) {
  IdVector<NodeId, bool> seen(graph.node_count(), false);
  std::vector<NodeId> found{first};
  seen[first] = true;
  const auto visit = [&](ArcId arc, NodeId to) {
    if (seen[to] || !may_pass(arc, to)) return;
    seen[to] = true;
    found.push_back(to);
  };
  for (std::size_t i = 0; i < found.size(); ++i) {
    const NodeId v = found[i];
    if (backwards) {
      for (const ArcId a : graph.in(v)) visit(a, graph.tail(a));
    } else {
      for (ArcId a = graph.first_out(v); a != graph.last_out(v); ++a.value) visit(a, graph.head(a));
    }
  }
  return seen;
}

/// Along arcs, through switches alone. Cost: O(n + m).
inline IdVector<NodeId, bool> found_through_switches(const Network& network, NodeId first) {
  return found_from(network.graph, first, false, [&](ArcId arc, NodeId /*to*/) {
    const NodeId tail = network.graph.tail(arc);
    return tail == first || !network.is_compute(tail);
  });
}

}  // namespace forestcoll::topology
