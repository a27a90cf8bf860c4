#include "compare/rows/link_loads.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace forestcoll::cli {
namespace {

// The multiplicities on every arc, and of all trees together: those carry the whole buffer once.
struct Count {
  IdVector<ArcId, std::int64_t> on_arc;
  std::int64_t all = 0;
};

Count count(const Forest& forest, const Network& network) {
  Count result{IdVector<ArcId, std::int64_t>(network.graph.arc_count(), 0), 0};
  for (std::size_t t = 0; t < forest.tree_count(); ++t) {
    const TreeId tree(t);
    const Forest::Tree& about = forest.tree(tree);
    result.all += about.multiplicity;
    for (std::size_t r = 0; r < forest.rank_count(); ++r) {
      if (Rank(r) == about.root) continue;
      const std::vector<NodeId> path = forest.path(tree, Rank(r));
      for (std::size_t i = 1; i < path.size(); ++i) {
        result.on_arc[network.graph.find(path[i - 1], path[i])] += about.multiplicity;
      }
    }
  }
  return result;
}

}  // namespace

std::optional<IdVector<ArcId, Ratio>> link_loads(const CollectiveForest& forest,
                                                 const Network& network) {
  IdVector<ArcId, Ratio> loads(network.graph.arc_count(), Ratio(0));
  for (const auto* phase : {&forest.reduce, &forest.broadcast}) {
    if (!*phase) continue;
    const Count counted = count(**phase, network);
    for (std::size_t a = 0; a < loads.size(); ++a) {
      const auto sum = checked_add(loads[ArcId(a)], Ratio(counted.on_arc[ArcId(a)], counted.all));
      if (!sum) return std::nullopt;
      loads[ArcId(a)] = *sum;
    }
  }
  return loads;
}

}  // namespace forestcoll::cli
