#include "solver/pack/tree_packing.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "solver/common/join_trees.hpp"
#include "solver/height/height.hpp"
#include "solver/pack/trees/packer.hpp"
#include "solver/pack/trees/quick_trees.hpp"
#include "solver/pack/trees/tree_store.hpp"

namespace forestcoll::solver {

std::vector<Rank> roots(const Orbits& orbits, bool moved) {
  std::vector<Rank> result;
  for (const Rank r : orbits.roots) {
    if (orbits.is_moved(r) == moved) result.push_back(r);
  }
  return result;
}

namespace {

// Trees that are left when somebody asks to stop are made at once, up to so many arcs to look at:
// some tenths of a second.
constexpr std::int64_t kMostQuickArcs = 10'000'000;

bool owes_any(const IdVector<Rank, std::int64_t>& owed) {
  return std::any_of(owed.begin(), owed.end(), [](std::int64_t trees) { return trees > 0; });
}

class TreePacking {
 public:
  TreePacking(const Core& core, const Orbits& orbits, const IdVector<Rank, std::int64_t>& owed,
              const LeastHeight& least_height, const PackOptions& options, IfStopped if_stopped,
              Budget& budget)
      : core_(core),
        orbits_(orbits),
        least_height_(least_height),
        options_(options),
        if_stopped_(if_stopped),
        budget_(budget),
        total_(std::accumulate(owed.begin(), owed.end(), std::int64_t{0})),
        store_(core),
        owed_(owed),
        rest_(core) {}

  std::optional<PackedTrees> run() {
    TreePart moved, fixed;
    if (orbits_.group.size() > 1 && !pack_moved(moved)) return std::nullopt;
    if (owes_any(owed_) && !pack_fixed(fixed)) return std::nullopt;
    const std::size_t rows = moved.trees.size();
    moved.trees.insert(moved.trees.end(), fixed.trees.begin(), fixed.trees.end());
    if (rows == 0) {
      moved.routes = std::move(fixed.routes);
    } else {
      moved.routes.insert(moved.routes.end(), fixed.routes.begin(), fixed.routes.end());
    }
    return PackedTrees{Forest(std::move(store_.table()), std::move(moved.trees),
                              std::move(moved.routes), orbits_.group, rows),
                       statistics_, stretch_of(core_.capacity, rest_.capacity)};
  }

 private:
  bool pack_moved(TreePart& part) {
    if (!pack(orbits_, roots(orbits_, true))) return false;
    part = take_trees();
    const IdVector<ArcId, Capacity> none(core_.graph.arc_count(), 0);
    lower(part, {orbits_.arc_orbit, orbits_.weight, owes_any(owed_) ? none : rest_.capacity},
          orbits_);
    return true;
  }

  bool pack_fixed(TreePart& part) {
    const Orbits each = trivial_orbits(core_);
    const std::vector<Rank> fixed_roots = roots(each, false);
    store_.reserve(static_cast<std::size_t>(std::count_if(
        fixed_roots.begin(), fixed_roots.end(), [&](Rank root) { return owed_[root] > 0; })));
    if (!pack(each, fixed_roots)) return false;
    part = take_trees();
    lower(part, plain_resources(rest_.capacity), each);
    return true;
  }

  // Packs the trees of these roots into what is left; that and what is owed are brought up to date.
  bool pack(const Orbits& orbits, const std::vector<Rank>& packed_roots) {
    const auto report = [&](std::int64_t left) {
      if (!options_.progress) return;
      options_.progress("packing", 1.0 - static_cast<double>(left) / static_cast<double>(total_));
    };
    if (!is_overfull_) {
      Packer packer(rest_, orbits, owed_, packed_roots, options_.threads, store_, statistics_,
                    budget_);
      const bool done = packer.run(report);
      take_stock(packer.state());
      if (done) return true;
    }
    return pack_at_once(orbits, packed_roots);
  }

  void take_stock(const PackingState& state) {
    IdVector<ArcId, Capacity> left;
    for (std::size_t a = 0; a < rest_.capacity.size(); ++a) {
      left.push_back(state.residual(ArcId(a)));
    }
    rest_.capacity = std::move(left);
    IdVector<Rank, std::int64_t> owed;
    for (std::size_t r = 0; r < owed_.size(); ++r) owed.push_back(state.owed(Rank(r)));
    owed_ = std::move(owed);
  }

  // What these roots owe, beyond the capacities, where that is what is wanted.
  bool pack_at_once(const Orbits& orbits, const std::vector<Rank>& packed_roots) {
    const auto owing = std::count_if(packed_roots.begin(), packed_roots.end(),
                                     [&](Rank root) { return owed_[root] > 0; });
    if (if_stopped_ == IfStopped::give_up || !budget_.stopped() ||
        owing * static_cast<std::int64_t>(core_.graph.arc_count()) > kMostQuickArcs) {
      return false;
    }
    is_overfull_ = true;
    IdVector<ArcId, std::int64_t> load;
    for (std::size_t a = 0; a < rest_.capacity.size(); ++a) {
      load.push_back(core_.capacity[ArcId(a)] - rest_.capacity[ArcId(a)]);
    }
    QuickTrees quick(core_, orbits, store_, std::move(load));
    for (const Rank root : packed_roots) {
      if (owed_[root] > 0) quick.add(root, owed_[root]);
    }
    for (std::size_t a = 0; a < rest_.capacity.size(); ++a) {
      rest_.capacity[ArcId(a)] = core_.capacity[ArcId(a)] - quick.load(ArcId(a));
    }
    IdVector<Rank, char> is_packed(owed_.size(), 0);
    for (const Rank root : packed_roots) is_packed[root] = 1;
    for (std::size_t r = 0; r < owed_.size(); ++r) {
      if (is_packed[orbits.rank_orbit[Rank(r)]] != 0) owed_[Rank(r)] = 0;
    }
    return true;
  }

  [[nodiscard]] TreePart take_trees() {
    TreePart part = store_.take();
    join_equal_trees(part.trees, part.routes, core_.compute.size());
    return part;
  }

  void lower(TreePart& part, Resources resources, const Orbits& orbits) {
    const bool tall = std::any_of(part.trees.begin(), part.trees.end(), [&](const auto& tree) {
      return tree.height > least_height_.distance;
    });
    if (!tall || is_overfull_ || options_.stop.stop_requested()) return;
    lower_heights({core_, store_.table(), part.trees, part.routes}, resources, orbits,
                  least_height_.goal(), options_.effort, options_.stop, options_.progress);
  }

  const Core& core_;
  const Orbits& orbits_;
  const LeastHeight& least_height_;
  const PackOptions& options_;
  const IfStopped if_stopped_;
  Budget& budget_;
  const std::int64_t total_;
  TreeStore store_;
  IdVector<Rank, std::int64_t> owed_;
  Core rest_;  ///< with what is left of the capacities
  bool is_overfull_ = false;
  PackStatistics statistics_;
};

}  // namespace

std::optional<PackedTrees> pack_tree_by_tree(const Core& core, const Orbits& orbits,
                                             const IdVector<Rank, std::int64_t>& owed,
                                             const LeastHeight& least_height,
                                             const PackOptions& options, IfStopped if_stopped,
                                             Budget& budget) {
  return TreePacking(core, orbits, owed, least_height, options, if_stopped, budget).run();
}

}  // namespace forestcoll::solver
