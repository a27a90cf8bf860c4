#include "forest/arc_counts.hpp"

#include <cstddef>
#include <vector>

namespace forestcoll {

std::optional<IdVector<ArcId, std::int64_t>> count_on_arcs(const Forest& forest,
                                                           const Network& network) {
  IdVector<ArcId, std::int64_t> counts(network.graph.arc_count(), 0);
  for (std::size_t t = 0; t < forest.tree_count(); ++t) {
    const Forest::Tree& tree = forest.tree(TreeId(t));
    for (std::size_t v = 0; v < forest.rank_count(); ++v) {
      if (Rank(v) == tree.root) continue;
      const std::vector<NodeId> path = forest.path(TreeId(t), Rank(v));
      for (std::size_t i = 0; i + 1 < path.size(); ++i) {
        std::int64_t& on_arc = counts[network.graph.find(path[i], path[i + 1])];
        if (__builtin_add_overflow(on_arc, tree.multiplicity, &on_arc)) return std::nullopt;
      }
    }
  }
  return counts;
}

}  // namespace forestcoll
