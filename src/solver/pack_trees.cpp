// Which way to pack: breadth-first trees where a fabric has no switches; else tree by tree; flat
// trees as a whole where that turns out to be hard, or to leave trees higher than they must be.
#include "solver/pack_trees.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "solver/height/flat.hpp"
#include "solver/height/height.hpp"
#include "solver/height/shortest.hpp"
#include "solver/packer.hpp"
#include "solver/tree_store.hpp"

namespace forestcoll::solver {
namespace {

// Edges of trees of multiplicity 1 up to which breadth-first trees are looked for, and edges of
// stars up to which those are looked for root by root.
constexpr std::size_t kMaxWholeEdges = 1 << 23;

// Repairs after which a packing is hard: flat trees, if there are any, are had in less time.
constexpr std::int64_t kHardRepairs = 24;

// The roots to pack: those that the group moves, or those that it leaves alone.
std::vector<Rank> roots(const Orbits& orbits, bool moved) {
  std::vector<Rank> result;
  for (const Rank r : orbits.roots) {
    if (orbits.is_moved(r) == moved) result.push_back(r);
  }
  return result;
}

bool owes_any(const IdVector<Rank, std::int64_t>& owed) {
  return std::any_of(owed.begin(), owed.end(), [](std::int64_t trees) { return trees > 0; });
}

Resources resources_of(const Orbits& orbits, const IdVector<ArcId, Capacity>& residual) {
  return {orbits.arc_orbit, orbits.weight, residual};
}

// A forest made as a whole: `make(rows, resources)` is given roots and multiplicities.
template <class Make>
std::optional<Forest> pack_whole(const Core& core, const Orbits& orbits,
                                 const IdVector<Rank, std::int64_t>& owed, Make&& make) {
  const bool moved = orbits.group.size() > 1;
  if (moved && !roots(orbits, false).empty()) return std::nullopt;
  TreeStore store(core);
  TreePart part;
  for (const Rank root : roots(orbits, moved)) {
    if (owed[root] > 0) part.trees.push_back({root, owed[root], 0});
  }
  Resources resources = resources_of(orbits, core.capacity);
  if (!make(TreeRows{core, store.table(), part.trees, part.routes}, resources)) return std::nullopt;
  const std::size_t rows = part.trees.size();
  return Forest(std::move(store.table()), std::move(part.trees), std::move(part.routes),
                orbits.group, rows);
}

class TreePacking {
 public:
  TreePacking(const Core& core, const Orbits& orbits, const IdVector<Rank, std::int64_t>& owed,
              RootOrder order, const LeastHeight& least_height, const PackOptions& options)
      : core_(core),
        orbits_(orbits),
        owed_(owed),
        order_(order),
        least_height_(least_height),
        options_(options),
        total_(std::accumulate(owed.begin(), owed.end(), std::int64_t{0})),
        store_(core) {}

  std::optional<PackedTrees> run() {
    if (auto shortest = pack_shortest_trees()) return PackedTrees{*std::move(shortest), {}};
    auto forest = pack_tree_by_tree();
    if (flat_) forest = std::move(flat_);
    if (!forest) return std::nullopt;
    if (auto stars = stars_instead_of(*forest)) forest = std::move(stars);
    return PackedTrees{*std::move(forest), statistics_};
  }

 private:
  // No search is needed where the capacities allow these, and no forest is lower.
  std::optional<Forest> pack_shortest_trees() const {
    return pack_whole(core_, orbits_, owed_, [&](const TreeRows& rows, Resources& resources) {
      return pack_shortest(rows, resources, kMaxWholeEdges, options_.stop);
    });
  }

  std::optional<Forest> pack_flat_trees(const Orbits& orbits, std::int32_t height) const {
    return pack_whole(core_, orbits, owed_, [&](const TreeRows& rows, Resources& resources) {
      return pack_flat(rows, resources, height, options_.stop);
    });
  }

  // First the roots that the group moves, one of each orbit. What they leave is for the others,
  // one by one.
  std::optional<Forest> pack_tree_by_tree() {
    Core rest = core_;
    IdVector<Rank, std::int64_t> left = owed_;
    TreePart moved, fixed;
    if (orbits_.group.size() > 1 && !pack_moved(moved, rest, left)) return std::nullopt;
    if (owes_any(left) && !pack_fixed(fixed, rest, left)) return std::nullopt;
    const std::size_t rows = moved.trees.size();
    moved.trees.insert(moved.trees.end(), fixed.trees.begin(), fixed.trees.end());
    if (rows == 0) {
      moved.routes = std::move(fixed.routes);
    } else {
      moved.routes.insert(moved.routes.end(), fixed.routes.begin(), fixed.routes.end());
    }
    return Forest(std::move(store_.table()), std::move(moved.trees), std::move(moved.routes),
                  orbits_.group, rows);
  }

  bool pack_moved(TreePart& part, Core& rest, IdVector<Rank, std::int64_t>& left) {
    Packer packer(core_, orbits_, owed_, roots(orbits_, true), options_.threads, store_,
                  statistics_);
    if (!packer.run(report())) return false;
    for (std::size_t a = 0; a < core_.graph.arc_count(); ++a) {
      rest.capacity[ArcId(a)] = packer.state().residual(ArcId(a));
    }
    for (std::size_t r = 0; r < left.size(); ++r) left[Rank(r)] = packer.state().owed(Rank(r));
    part = store_.take();
    const IdVector<ArcId, Capacity> none(core_.graph.arc_count(), 0);
    lower(part, resources_of(orbits_, owes_any(left) ? none : rest.capacity), orbits_);
    return true;
  }

  bool pack_fixed(TreePart& part, const Core& rest, const IdVector<Rank, std::int64_t>& left) {
    const Orbits each = trivial_orbits(core_);
    std::vector<Rank> fixed_roots = roots(each, false);
    if (order_ == RootOrder::descending) std::reverse(fixed_roots.begin(), fixed_roots.end());
    store_.reserve(static_cast<std::size_t>(std::count_if(
        fixed_roots.begin(), fixed_roots.end(), [&](Rank root) { return left[root] > 0; })));
    Packer packer(rest, each, left, fixed_roots, options_.threads, store_, statistics_);
    if (!packer.run(report())) return false;
    part = store_.take();
    IdVector<ArcId, Capacity> residual(core_.graph.arc_count());
    for (std::size_t a = 0; a < residual.size(); ++a) {
      residual[ArcId(a)] = packer.state().residual(ArcId(a));
    }
    lower(part, plain_resources(residual), each);
    return true;
  }

  // Ends a packing that turns out to be hard where flat trees do instead.
  std::function<bool(std::int64_t)> report() {
    return [this](std::int64_t left) {
      if (options_.progress) {
        options_.progress("packing", 1.0 - static_cast<double>(left) / static_cast<double>(total_));
      }
      if (options_.stop.stop_requested()) return false;
      if (flat_tried_ || statistics_.repairs < kHardRepairs) return true;
      flat_tried_ = true;
      if (least_height_.distance > 2) return true;
      const std::int32_t least = least_height_.exact();
      if (least <= 2) flat_ = pack_flat_trees(orbits_, least);
      if (!flat_ && least == 1) flat_ = stars_root_by_root();
      return !flat_;
    };
  }

  void lower(TreePart& part, Resources resources, const Orbits& orbits) {
    const bool tall = std::any_of(part.trees.begin(), part.trees.end(), [&](const auto& tree) {
      return tree.height > least_height_.distance;
    });
    if (!tall || options_.stop.stop_requested()) return;
    lower_heights({core_, store_.table(), part.trees, part.routes}, resources, orbits,
                  least_height_.exact(), options_.effort, options_.stop, options_.progress);
  }

  std::optional<Forest> stars_instead_of(const Forest& forest) const {
    if (flat_tried_ || forest.max_height() == 1 || least_height_.distance > 1 ||
        least_height_.exact() > 1) {
      return std::nullopt;
    }
    return stars_root_by_root();
  }

  // Images of stars take the same ways; where these are too few, the roots may do better each on
  // its own.
  std::optional<Forest> stars_root_by_root() const {
    const std::size_t edges = core_.compute.size() * core_.compute.size();
    if (orbits_.group.size() == 1 || edges > kMaxWholeEdges) return std::nullopt;
    return pack_flat_trees(trivial_orbits(core_), 1);
  }

  const Core& core_;
  const Orbits& orbits_;
  const IdVector<Rank, std::int64_t>& owed_;
  const RootOrder order_;
  const LeastHeight& least_height_;
  const PackOptions& options_;
  const std::int64_t total_;
  TreeStore store_;
  PackStatistics statistics_;
  bool flat_tried_ = false;
  std::optional<Forest> flat_;  ///< instead of a packing that was given up
};

}  // namespace

std::optional<PackedTrees> pack_trees(const Core& core, const Orbits& orbits,
                                      const IdVector<Rank, std::int64_t>& owed, RootOrder order,
                                      const LeastHeight& least_height, const PackOptions& options) {
  return TreePacking(core, orbits, owed, order, least_height, options).run();
}

}  // namespace forestcoll::solver
