// Which ways to pack there are, in what order, and what each may cost: breadth-first trees where a
// fabric has no switches; tree by tree with images; whole forests that are mended; root by root.
#include "solver/pack/pack_trees.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "solver/common/budget.hpp"
#include "solver/common/join_trees.hpp"
#include "solver/height/by_rank.hpp"
#include "solver/height/flat.hpp"
#include "solver/height/height.hpp"
#include "solver/height/mend.hpp"
#include "solver/height/shortest.hpp"
#include "solver/pack/packer.hpp"
#include "solver/pack/tree_store.hpp"

namespace forestcoll::solver {
namespace {

// Edges of trees of multiplicity 1 up to which breadth-first trees are looked for, and edges of
// stars up to which those are looked for root by root.
constexpr std::size_t kMaxWholeEdges = 1 << 23;

// Edges of trees up to which a lower forest is worth a search of as long again; and up to which one
// root by one is.
constexpr std::size_t kSmallEdges = 1 << 16;
constexpr std::size_t kMaxPlainEdges = 1 << 21;

// Steps that no attempt is denied, and how many times what packing root by root takes it may take.
constexpr std::int64_t kLeastBudget = std::int64_t{1} << 22;
constexpr std::int64_t kTimesPlain = 16;

// Heights above the least that are tried rank by rank.
constexpr std::int32_t kMoreHeight = 2;

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

/// Packs tree by tree, with the images under one group.
class TreePacking {
 public:
  TreePacking(const Core& core, const Orbits& orbits, const IdVector<Rank, std::int64_t>& owed,
              RootOrder order, const LeastHeight& least_height, const PackOptions& options,
              bool flat_tried, Budget& budget)
      : core_(core),
        orbits_(orbits),
        owed_(owed),
        order_(order),
        least_height_(least_height),
        options_(options),
        budget_(budget),
        total_(std::accumulate(owed.begin(), owed.end(), std::int64_t{0})),
        store_(core),
        flat_tried_(flat_tried) {}

  std::optional<PackedTrees> run() {
    auto forest = pack_tree_by_tree();
    if (flat_) forest = std::move(flat_);
    if (!forest) return std::nullopt;
    if (auto stars = stars_instead_of(*forest)) forest = std::move(stars);
    return PackedTrees{*std::move(forest), statistics_};
  }

 private:
  std::optional<Forest> pack_flat_trees(const Orbits& orbits, std::int32_t height) const {
    return pack_whole(core_, orbits, owed_, [&](const TreeRows& rows, Resources& resources) {
      return pack_flat(rows, resources, height, Fit::within, options_.stop);
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
                  statistics_, budget_);
    if (!packer.run(report())) return false;
    for (std::size_t a = 0; a < core_.graph.arc_count(); ++a) {
      rest.capacity[ArcId(a)] = packer.state().residual(ArcId(a));
    }
    for (std::size_t r = 0; r < left.size(); ++r) left[Rank(r)] = packer.state().owed(Rank(r));
    part = take_trees();
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
    Packer packer(rest, each, left, fixed_roots, options_.threads, store_, statistics_, budget_);
    if (!packer.run(report())) return false;
    part = take_trees();
    IdVector<ArcId, Capacity> residual(core_.graph.arc_count());
    for (std::size_t a = 0; a < residual.size(); ++a) {
      residual[ArcId(a)] = packer.state().residual(ArcId(a));
    }
    lower(part, plain_resources(residual), each);
    return true;
  }

  [[nodiscard]] TreePart take_trees() {
    TreePart part = store_.take();
    join_equal_trees(part.trees, part.routes, core_.compute.size());
    return part;
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
  Budget& budget_;
  const std::int64_t total_;
  TreeStore store_;
  PackStatistics statistics_;
  bool flat_tried_;
  std::optional<Forest> flat_;  ///< instead of a packing that was given up
};

/// All ways to pack, and the best that they found.
class Portfolio {
 public:
  Portfolio(const Core& core, std::span<const Symmetry> groups,
            const IdVector<Rank, std::int64_t>& owed, RootOrder order,
            const LeastHeight& least_height, const PackOptions& options)
      : core_(core),
        owed_(owed),
        order_(order),
        least_height_(least_height),
        options_(options),
        each_(trivial_orbits(core)),
        edges_(core.compute.size() * core.compute.size()),
        is_direct_(
            std::all_of(core.graph.arcs().begin(), core.graph.arcs().end(), [&](const Arc& arc) {
              return core.rank_of[arc.tail].valid() && core.rank_of[arc.head].valid();
            })) {
    for (const Symmetry& group : groups) {
      if (auto orbits = make_orbits(core, group)) symmetric_.push_back(*std::move(orbits));
    }
  }

  std::optional<PackedTrees> run() {
    using Way = bool (Portfolio::*)();
    // What is cheap for what it finds comes first.
    for (const Way way : {&Portfolio::shortest, &Portfolio::with_images, &Portfolio::by_rank,
                          &Portfolio::flat, &Portfolio::root_by_root}) {
      if (options_.stop.stop_requested() || (this->*way)()) break;
    }
    return std::move(best_);
  }

 private:
  // What packing root by root takes if all goes well: each tree looks at every arc once or twice.
  [[nodiscard]] std::int64_t plain_cost() const {
    const auto roots =
        std::count_if(owed_.begin(), owed_.end(), [](auto trees) { return trees > 0; });
    return 2 * roots * static_cast<std::int64_t>(core_.graph.arc_count() + core_.compute.size());
  }

  [[nodiscard]] Budget budget(std::int64_t times_plain) const {
    return {std::max(kLeastBudget, times_plain * plain_cost()), options_.stop};
  }

  // Keeps the lower one, of these the one of fewer trees. True where no other is worth a search.
  bool offer(std::optional<PackedTrees> packed) {
    if (packed) {
      const auto measure = [](const PackedTrees& each) {
        return std::pair(each.forest.max_height(), each.forest.tree_count());
      };
      if (!best_ || measure(*packed) < measure(*best_)) best_ = std::move(packed);
    }
    return best_ && is_low_enough(best_->forest.max_height());
  }

  // The least height, or one above where a search for that one takes a while.
  [[nodiscard]] bool is_low_enough(std::int32_t height) const {
    if (height <= least_height_.distance) return true;
    const std::int32_t least = least_height_.exact();
    return height <= least + (edges_ > kSmallEdges && least > 1 ? 1 : 0);
  }

  // No search is needed where the capacities allow these, and no forest is lower.
  bool shortest() {
    for (const Orbits& orbits : symmetric_) {
      if (offer(shortest_with(orbits))) return true;
    }
    return offer(shortest_with(each_));
  }

  std::optional<PackedTrees> shortest_with(const Orbits& orbits) const {
    auto forest = pack_whole(core_, orbits, owed_, [&](const TreeRows& rows, Resources& resources) {
      return pack_shortest(rows, resources, kMaxWholeEdges, options_.stop);
    });
    if (!forest) return std::nullopt;
    return PackedTrees{*std::move(forest), {}};
  }

  // One root per orbit: of the first group for which that works, at no more than a few times what
  // packing root by root takes, or as much where rank by rank is the other way.
  bool with_images() {
    for (const Orbits& orbits : symmetric_) {
      if (options_.stop.stop_requested()) return false;
      Budget limit = budget(is_direct_ ? 1 : kTimesPlain);
      auto packed =
          TreePacking(core_, orbits, owed_, order_, least_height_, options_, false, limit).run();
      if (packed) return offer(std::move(packed));
    }
    return false;
  }

  // Fabrics without switches.
  bool by_rank() {
    if (!is_direct_) return false;
    const std::int32_t least = least_height_.exact();
    Budget limit = budget(kTimesPlain);
    auto forest = pack_whole(core_, each_, owed_, [&](const TreeRows& rows, Resources& resources) {
      return pack_by_rank(rows, resources, {least, least + kMoreHeight}, kMaxWholeEdges, limit);
    });
    if (!forest) return false;
    return offer(PackedTrees{*std::move(forest), {}});
  }

  // Flat trees, which may ask too much of some links, and then what is overfull is mended.
  bool flat() {
    if (is_direct_ || least_height_.distance > 3) return false;
    const std::int32_t least = least_height_.exact();
    if (least > 3 || edges_ > kMaxWholeEdges) return false;
    flat_tried_ = true;
    Budget limit = budget(kTimesPlain);
    const auto make = [&](const TreeRows& rows, Resources& resources) {
      const std::int32_t height = least == 1 ? 1 : 2;
      if (!pack_flat(rows, resources, height, Fit::perhaps, options_.stop)) return false;
      const std::size_t most_trees = kMaxWholeEdges / core_.compute.size();
      for (std::int32_t h = least; h <= least + 1; ++h) {
        if (!mend_overfull(rows, resources, h, most_trees, limit)) continue;
        lower_edge_by_edge(rows, resources, each_, least, options_.effort, options_.stop,
                           options_.progress);
        return true;
      }
      return false;
    };
    auto forest = pack_whole(core_, each_, owed_, make);
    if (!forest) return false;
    return offer(PackedTrees{*std::move(forest), {}});
  }

  // Where nothing stands yet, there is no limit to what this may take.
  bool root_by_root() {
    if (best_ &&
        (edges_ > kMaxPlainEdges || best_->forest.max_height() <= 2 * least_height_.exact())) {
      return false;
    }
    Budget limit = best_ ? budget(kTimesPlain) : Budget(Budget::kUnlimited, options_.stop);
    return offer(
        TreePacking(core_, each_, owed_, order_, least_height_, options_, flat_tried_, limit)
            .run());
  }

  const Core& core_;
  const IdVector<Rank, std::int64_t>& owed_;
  const RootOrder order_;
  const LeastHeight& least_height_;
  const PackOptions& options_;
  const Orbits each_;
  const std::size_t edges_;
  const bool is_direct_;
  std::vector<Orbits> symmetric_;
  std::optional<PackedTrees> best_;
  bool flat_tried_ = false;
};

}  // namespace

std::optional<PackedTrees> pack_trees(const Core& core, std::span<const Symmetry> groups,
                                      const IdVector<Rank, std::int64_t>& owed, RootOrder order,
                                      const LeastHeight& least_height, const PackOptions& options) {
  return Portfolio(core, groups, owed, order, least_height, options).run();
}

}  // namespace forestcoll::solver
