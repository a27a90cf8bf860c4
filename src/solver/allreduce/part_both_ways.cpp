#include "solver/allreduce/part_both_ways.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace forestcoll::solver {
namespace {

// Whether all ranks reach one another, where every arc has one back.
bool is_connected(const Network& network) {
  std::vector<bool> seen(network.graph.node_count(), false);
  std::vector<NodeId> pending = {network.ranks.front()};
  seen[pending.front().index()] = true;
  while (!pending.empty()) {
    const NodeId v = pending.back();
    pending.pop_back();
    for (ArcId a = network.graph.first_out(v); a != network.graph.last_out(v); ++a.value) {
      const NodeId next = network.graph.head(a);
      if (seen[next.index()]) continue;
      seen[next.index()] = true;
      pending.push_back(next);
    }
  }
  return std::ranges::all_of(network.ranks, [&](NodeId v) { return seen[v.index()]; });
}

}  // namespace

std::optional<Network> part_both_ways(const Network& network) {
  Network part = network;
  part.capacity = {};
  std::vector<Arc> arcs;
  for (std::size_t i = 0; i < network.graph.arc_count(); ++i) {
    const Arc& arc = network.graph.arcs()[i];
    const ArcId back = network.graph.find(arc.head, arc.tail);
    if (!back.valid()) continue;
    arcs.push_back(arc);
    part.capacity.push_back(std::min(network.capacity[ArcId(i)], network.capacity[back]));
  }
  part.graph = Digraph(network.graph.node_count(), arcs);
  const bool is_whole =
      arcs.size() == network.graph.arc_count() && part.capacity == network.capacity;
  if (is_whole || !is_connected(part)) return std::nullopt;
  return part;
}

AllreduceSplit on_whole(AllreduceSplit split, const Network& part, const Network& whole) {
  for (auto* phase : {&split.broadcast, &split.reduce}) {
    for (AllreduceTrees& trees : *phase) {
      for (AllreduceArc& taken : trees.taken) {
        const Arc& arc = part.graph.arcs()[taken.arc.index()];
        taken.arc = whole.graph.find(arc.tail, arc.head);
      }
    }
  }
  return split;
}

}  // namespace forestcoll::solver
