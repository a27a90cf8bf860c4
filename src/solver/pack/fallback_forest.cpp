// Where the fabric has automorphisms, a tree loads the arcs with all its images, so that one root
// of each orbit is enough; roots that nothing moves follow, one by one. That can be better or worse
// than each root by itself, which is tried too where it takes no time.
#include "solver/pack/fallback_forest.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "solver/common/core.hpp"
#include "solver/pack/trees/quick_trees.hpp"
#include "solver/pack/trees/tree_store.hpp"
#include "solver/rate/scale.hpp"
#include "solver/symmetry/orbits.hpp"
#include "solver/symmetry/symmetry.hpp"

namespace forestcoll::solver {
namespace {

// Tree edges up to which two forests are made: about a second.
constexpr std::size_t kMaxEdgesTwice = std::size_t{1} << 22;

Orbits largest_orbits(const Network& network, const Weights& weights, const Core& core) {
  for (const Symmetry& group : find_symmetries(network, weights)) {
    if (auto orbits = make_orbits(core, group)) return *std::move(orbits);
  }
  return trivial_orbits(core);
}

// One tree for each root that the group moves, with its images, and then one for each other root.
Packing build(const Network& network, const Weights& weights, const Core& core,
              const Orbits& orbits) {
  TreeStore store(core);
  QuickTrees moved(core, orbits, store, IdVector<ArcId, std::int64_t>(core.capacity.size(), 0));
  std::vector<Rank> fixed;
  std::size_t base_trees = 0;
  for (const Rank root : orbits.roots) {
    if (weights[root] == 0) continue;
    if (orbits.is_moved(root)) {
      moved.add(root, weights[root]);
      ++base_trees;
    } else {
      fixed.push_back(root);
    }
  }
  IdVector<ArcId, std::int64_t> load;
  for (std::size_t a = 0; a < core.capacity.size(); ++a) load.push_back(moved.load(ArcId(a)));
  const Orbits each = trivial_orbits(core);
  QuickTrees others(core, each, store, std::move(load));
  for (const Rank root : fixed) others.add(root, weights[root]);
  Ratio scale = 0;
  for (std::size_t a = 0; a < core.capacity.size(); ++a) {
    scale = std::max(scale, Ratio(others.load(ArcId(a)), core.capacity[ArcId(a)]));
  }
  TreePart part = store.take();
  return {Forest(std::move(store.table()), std::move(part.trees), std::move(part.routes),
                 orbits.group, base_trees),
          {1, scale, floor_capacities(network, scale)},
          {}};
}

}  // namespace

Packing quick_forest(const Network& network, const Weights& weights) {
  const Core core = plain_core(network);
  const Orbits orbits = largest_orbits(network, weights, core);
  const bool has_images = orbits.group.size() > 1;
  Packing packing = build(network, weights, core, orbits);
  const std::size_t edges = network.ranks.size() * network.ranks.size();
  if (!has_images || edges > kMaxEdgesTwice) return packing;
  Packing each = build(network, weights, core, trivial_orbits(core));
  return each.scaling.scale < packing.scaling.scale ? std::move(each) : std::move(packing);
}

}  // namespace forestcoll::solver
