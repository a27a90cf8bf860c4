#include "forest/arc_counts.hpp"

#include <cstddef>
#include <limits>
#include <vector>

#include "forest/symmetry.hpp"

namespace forestcoll {
namespace {

using Counts = IdVector<ArcId, std::int64_t>;

bool add_tree(const Forest& forest, TreeId t, const Network& network, Counts& counts) {
  const Forest::Tree& tree = forest.tree(t);
  for (std::size_t v = 0; v < forest.rank_count(); ++v) {
    if (Rank(v) == tree.root) continue;
    const std::vector<NodeId> path = forest.path(t, Rank(v));
    for (std::size_t i = 0; i + 1 < path.size(); ++i) {
      std::int64_t& on_arc = counts[network.graph.find(path[i], path[i + 1])];
      if (__builtin_add_overflow(on_arc, tree.multiplicity, &on_arc)) return false;
    }
  }
  return true;
}

// With all images under the powers of a generator: these are as many on every arc of a cycle.
bool add_images(const Symmetry::Generator& generator, const Network& network, Counts& counts) {
  std::vector<bool> done(counts.size(), false);
  std::vector<ArcId> cycle;
  for (std::size_t first = 0; first < counts.size(); ++first) {
    if (done[first] || counts[ArcId(first)] == 0) continue;
    cycle.clear();
    Int128 sum = 0;
    for (ArcId a(first); !done[a.index()];
         a = network.graph.find(generator.nodes[network.graph.tail(a)],
                                generator.nodes[network.graph.head(a)])) {
      done[a.index()] = true;
      cycle.push_back(a);
      sum += counts[a];
    }
    const Int128 each = sum * (generator.order / static_cast<std::int64_t>(cycle.size()));
    if (each > std::numeric_limits<std::int64_t>::max()) return false;
    for (const ArcId a : cycle) counts[a] = static_cast<std::int64_t>(each);
  }
  return true;
}

}  // namespace

std::optional<IdVector<ArcId, std::int64_t>> count_on_arcs(const Forest& forest,
                                                           const Network& network) {
  Counts counts(network.graph.arc_count(), 0), moved = counts;
  for (const TreeId t : forest.base_trees()) {
    if (!add_tree(forest, t, network, forest.has_images(t) ? moved : counts)) return std::nullopt;
  }
  for (const Symmetry::Generator& generator : forest.symmetry().generators()) {
    if (!add_images(generator, network, moved)) return std::nullopt;
  }
  for (std::size_t a = 0; a < counts.size(); ++a) {
    std::int64_t& sum = counts[ArcId(a)];
    if (__builtin_add_overflow(sum, moved[ArcId(a)], &sum)) return std::nullopt;
  }
  return counts;
}

}  // namespace forestcoll
