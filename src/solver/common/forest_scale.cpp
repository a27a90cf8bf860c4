#include "solver/common/forest_scale.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace forestcoll::solver {

Ratio forest_scale(const Network& network, const Forest& forest) {
  IdVector<ArcId, std::int64_t> load(network.graph.arc_count(), 0);
  for (std::size_t t = 0; t < forest.tree_count(); ++t) {
    const Forest::Tree& tree = forest.tree(TreeId(t));
    for (std::size_t v = 0; v < forest.rank_count(); ++v) {
      if (Rank(v) == tree.root) continue;
      const std::vector<NodeId> path = forest.path(TreeId(t), Rank(v));
      for (std::size_t i = 0; i + 1 < path.size(); ++i) {
        const auto first = network.graph.arcs().begin() + network.graph.first_out(path[i]).value;
        const auto last = network.graph.arcs().begin() + network.graph.last_out(path[i]).value;
        const auto arc = std::lower_bound(first, last, path[i + 1],
                                          [](const Arc& a, NodeId head) { return a.head < head; });
        load[ArcId(static_cast<std::size_t>(arc - network.graph.arcs().begin()))] +=
            tree.multiplicity;
      }
    }
  }
  Ratio scale = 0;
  for (std::size_t a = 0; a < load.size(); ++a) {
    scale = std::max(scale, Ratio(load[ArcId(a)], network.capacity[ArcId(a)]));
  }
  return scale;
}

}  // namespace forestcoll::solver
