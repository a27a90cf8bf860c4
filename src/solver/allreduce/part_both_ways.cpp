#include "solver/allreduce/part_both_ways.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "solver/common/reaches_all.hpp"

namespace forestcoll::solver {

std::optional<Network> part_both_ways(const Network& network) {
  if (!network.limits.empty()) return std::nullopt;  // which may count links one way
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
  if (is_whole || !reaches_all(part)) return std::nullopt;  // both ways, as all its links lead
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
