// Which ways to pack there are, in what order, and what each may cost: breadth-first trees where a
// fabric has no switches; tree by tree with images; whole forests that are mended; root by root.
#include "solver/pack/pack_trees.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "solver/common/budget.hpp"
#include "solver/height/edges/mend.hpp"
#include "solver/height/height.hpp"
#include "solver/height/whole/by_rank.hpp"
#include "solver/height/whole/flat.hpp"
#include "solver/height/whole/shortest.hpp"
#include "solver/pack/flat_by_parts.hpp"
#include "solver/pack/tree_packing.hpp"
#include "solver/pack/trees/tree_store.hpp"
#include "solver/rate/balance.hpp"

namespace forestcoll::solver {
namespace {

// Edges of trees of multiplicity 1 up to which breadth-first trees are looked for, and edges of
// stars up to which those are looked for root by root.
constexpr std::size_t kMaxWholeEdges = 1 << 23;

// Edges of trees up to which a lower forest is worth a search of as long again; and up to which one
// root by one is.
constexpr std::size_t kSmallEdges = 1 << 16;
constexpr std::size_t kMaxPlainEdges = 1 << 21;

// More than the checker reads, where no tree stands for its images.
constexpr std::size_t kMostEdgesChecked = 20'000'000;

// Steps that no attempt is denied, and how many times what packing root by root takes if all goes
// well one may take.
constexpr std::int64_t kLeastBudget = std::int64_t{1} << 22;
constexpr std::int64_t kTimes = 16;
constexpr std::int64_t kMostLastBudget = std::int64_t{1} << 27;
constexpr std::int64_t kMostUnbalanced = std::int64_t{1} << 24;

// Repairs after which a packing is hard: flat trees, if there are any, are had in less time.
constexpr std::int64_t kRepairsAtFirst = 24;

// Heights above the least that are tried rank by rank, and up to which forests are mended.
constexpr std::int32_t kMoreHeight = 2;

// The least height up to which flat trees, of height 1 or 2, are a beginning.
constexpr std::int32_t kMostHeightOfFlat = 3;

// A forest made as a whole: `make(rows, resources)` is given roots and multiplicities.
template <class Make>
std::optional<PackedTrees> pack_whole(const Core& core, const Orbits& orbits,
                                      const IdVector<Rank, std::int64_t>& owed, Make&& make) {
  const bool moved = orbits.group.size() > 1;
  if (moved && !roots(orbits, false).empty()) return std::nullopt;
  TreeStore store(core);
  TreePart part;
  for (const Rank root : roots(orbits, moved)) {
    if (owed[root] > 0) part.trees.push_back({root, owed[root], 0});
  }
  Resources resources{orbits.arc_orbit, orbits.weight, core.capacity};
  if (!make(TreeRows{core, store.table(), part.trees, part.routes}, resources)) return std::nullopt;
  const std::size_t rows = part.trees.size();
  IdVector<ArcId, Capacity> left;
  for (const ArcId resource : resources.of) left.push_back(resources.residual[resource]);
  return PackedTrees{Forest(std::move(store.table()), std::move(part.trees), std::move(part.routes),
                            orbits.group, rows),
                     {},
                     stretch_of(core.capacity, left)};
}

/// All ways to pack, and the best that they found.
class Portfolio {
 public:
  Portfolio(const Core& core, const Groups& groups, const IdVector<Rank, std::int64_t>& owed,
            const LeastHeight& least_height, const PackOptions& options, IfStopped if_stopped)
      : core_(core),
        owed_(owed),
        least_height_(least_height),
        options_(options),
        if_stopped_(if_stopped),
        each_(trivial_orbits(core)),
        edges_(core.compute.size() * core.compute.size()),
        is_direct_(
            std::all_of(core.graph.arcs().begin(), core.graph.arcs().end(), [&](const Arc& arc) {
              return core.rank_of[arc.tail].valid() && core.rank_of[arc.head].valid();
            })) {
    for (const Symmetry& group : groups.all) {
      if (auto orbits = make_orbits(core, group)) symmetric_.push_back(*std::move(orbits));
    }
    for (const Symmetry& group : groups.in_blocks) {
      if (auto orbits = make_orbits(core, group)) in_blocks_.push_back(*std::move(orbits));
    }
  }

  std::optional<PackedTrees> run() {
    using Attempt = bool (Portfolio::*)();
    // What is cheap for what it finds comes first.
    for (const Attempt attempt :
         {&Portfolio::shortest, &Portfolio::flat_by_parts, &Portfolio::with_images_at_first,
          &Portfolio::by_rank, &Portfolio::flat, &Portfolio::with_images_after_all,
          &Portfolio::root_by_root}) {
      if (options_.stop.stop_requested() || (this->*attempt)()) break;
    }
    if (!fits() && if_stopped_ == IfStopped::finish_at_once) flat_at_once();
    return std::move(best_);
  }

 private:
  // What packing root by root takes if all goes well: each tree looks at every arc once or twice.
  [[nodiscard]] std::int64_t plain_cost() const {
    const auto roots =
        std::count_if(owed_.begin(), owed_.end(), [](auto trees) { return trees > 0; });
    return 2 * roots * static_cast<std::int64_t>(core_.graph.arc_count() + core_.compute.size());
  }

  [[nodiscard]] Budget budget(std::int64_t times_plain,
                              std::int64_t repairs = Budget::kUnlimited) const {
    return {std::max(kLeastBudget, times_plain * plain_cost()), options_.stop, repairs};
  }

  // For the mending that nothing but higher trees comes after: the more may move, the longer it
  // takes, and the more it finds. Where forests are large it would take too long; and where
  // switches are unbalanced there may be nothing to be found.
  [[nodiscard]] Budget last_budget() const {
    const std::int64_t most = is_balanced(core_) ? kMostLastBudget : kMostUnbalanced;
    return {std::min(kTimes * kTimes * plain_cost(), most), options_.stop};
  }

  // Keeps what is faster; of these the lower one, and of these the one of fewer trees. True where
  // no other is worth a search.
  bool offer(std::optional<PackedTrees> packed) {
    if (packed) {
      const auto measure = [](const PackedTrees& each) {
        return std::tuple(each.stretch, each.forest.max_height(), each.forest.tree_count());
      };
      if (!best_ || measure(*packed) < measure(*best_)) best_ = std::move(packed);
    }
    return fits() && is_low_enough(best_->forest.max_height());
  }

  [[nodiscard]] bool fits() const { return best_ && best_->fits(); }

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
    return pack_whole(core_, orbits, owed_, [&](const TreeRows& rows, Resources& resources) {
      return pack_shortest(rows, resources, kMaxWholeEdges, options_.stop);
    });
  }

  // Large fabrics that are symmetric but for some parts.
  bool flat_by_parts() {
    if (is_direct_) return false;
    for (const Orbits& orbits : in_blocks_) {
      if (fits() || options_.stop.stop_requested()) break;
      const bool is_done =
          offer(pack_flat_by_parts(core_, orbits, owed_, least_height_, kMoreHeight, options_));
      if (is_done) return true;
    }
    return false;
  }

  // One root per orbit: of the first group for which that works. A hard packing is given up where
  // flat trees may do, and on fabrics without switches, where rank by rank is the other way.
  bool with_images_at_first() {
    if (is_direct_) return with_images(1, Budget::kUnlimited);
    const bool may_be_flat = least_height_.distance <= 2;
    return with_images(kTimes, may_be_flat ? kRepairsAtFirst : Budget::kUnlimited);
  }

  // Flat trees were not to be had.
  bool with_images_after_all() {
    const bool was_limited = !is_direct_ && least_height_.distance <= 2;
    return was_limited && !fits() && with_images(kTimes, Budget::kUnlimited);
  }

  bool with_images(std::int64_t times, std::int64_t repairs) {
    for (const Orbits& orbits : symmetric_) {
      if (options_.stop.stop_requested()) return false;
      Budget limit = budget(times, repairs);
      auto packed = tree_by_tree(orbits, limit);
      if (packed) return offer(std::move(packed));
    }
    return false;
  }

  std::optional<PackedTrees> tree_by_tree(const Orbits& orbits, Budget& limit) const {
    return pack_tree_by_tree(core_, orbits, owed_, least_height_, options_, if_stopped_, limit);
  }

  // Fabrics without switches.
  bool by_rank() {
    if (!is_direct_) return false;
    const std::int32_t least = least_height_.exact();
    Budget limit = budget(kTimes);
    return offer(pack_whole(core_, each_, owed_, [&](const TreeRows& rows, Resources& resources) {
      return pack_by_rank(rows, resources, {least, least + kMoreHeight}, kMaxWholeEdges, limit);
    }));
  }

  // Flat trees, which may ask too much of some links, and then what is overfull is mended.
  bool flat() {
    if (is_direct_ || edges_ > kMaxWholeEdges || least_height_.distance > kMostHeightOfFlat) {
      return false;
    }
    const std::int32_t least = least_height_.exact();
    if (least > kMostHeightOfFlat) return false;
    return offer(pack_whole(core_, each_, owed_, [&](const TreeRows& rows, Resources& resources) {
      if (!pack_flat(rows, resources, std::min(least, 2), Fit::perhaps, options_.stop))
        return false;
      const std::size_t most_trees = kMaxWholeEdges / core_.compute.size();
      for (std::int32_t h = least; h <= least + kMoreHeight; ++h) {
        const bool is_last = h == least + kMoreHeight;
        Budget limit = is_last ? last_budget() : budget(kTimes);
        if (!mend_overfull(rows, resources, h, most_trees, is_last ? 2 : 1, limit)) continue;
        lower_edge_by_edge(rows, resources, each_, least_height_.goal(), options_.effort,
                           options_.stop, options_.progress);
        break;
      }
      return true;
    }));
  }

  // As they come, whoever asked to stop: they take a second at most.
  void flat_at_once() {
    if (is_direct_ || edges_ > kMaxWholeEdges || !options_.stop.stop_requested()) return;
    offer(pack_whole(core_, each_, owed_, [&](const TreeRows& rows, Resources& resources) {
      return pack_flat(rows, resources, 2, Fit::perhaps, {});
    }));
  }

  // Where nothing stands yet, there is no limit to what this may take, unless what it makes would
  // be too large for the checker.
  bool root_by_root() {
    if (best_ && edges_ > kMostEdgesChecked) return false;
    if (fits() &&
        (edges_ > kMaxPlainEdges || best_->forest.max_height() <= 2 * least_height_.exact())) {
      return false;
    }
    Budget limit = fits() ? budget(kTimes) : Budget(Budget::kUnlimited, options_.stop);
    return offer(tree_by_tree(each_, limit));
  }

  const Core& core_;
  const IdVector<Rank, std::int64_t>& owed_;
  const LeastHeight& least_height_;
  const PackOptions& options_;
  const IfStopped if_stopped_;
  const Orbits each_;
  const std::size_t edges_;
  const bool is_direct_;
  std::vector<Orbits> symmetric_;
  std::vector<Orbits> in_blocks_;
  std::optional<PackedTrees> best_;
};

}  // namespace

Ratio stretch_of(const IdVector<ArcId, Capacity>& capacity, const IdVector<ArcId, Capacity>& left) {
  Ratio stretch = 1;
  for (std::size_t a = 0; a < capacity.size(); ++a) {
    if (left[ArcId(a)] >= 0) continue;
    stretch = std::max(stretch, Ratio(capacity[ArcId(a)] - left[ArcId(a)], capacity[ArcId(a)]));
  }
  return stretch;
}

bool is_packed_by_parts(std::size_t ranks) {
  return ranks * ranks > kMaxPlainEdges;
}

std::optional<PackedTrees> pack_trees(const Core& core, const Groups& groups,
                                      const IdVector<Rank, std::int64_t>& owed,
                                      const LeastHeight& least_height, const PackOptions& options,
                                      IfStopped if_stopped) {
  return Portfolio(core, groups, owed, least_height, options, if_stopped).run();
}

}  // namespace forestcoll::solver
