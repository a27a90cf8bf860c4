#include "solver/pack/flat_by_parts.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "solver/height/edges/mend.hpp"
#include "solver/height/height.hpp"
#include "solver/height/whole/flat.hpp"
#include "solver/pack/tree_packing.hpp"
#include "solver/pack/trees/tree_store.hpp"

namespace forestcoll::solver {
namespace {

// Splitting makes at most so many times as many trees, or trees of so many edges together.
constexpr std::size_t kMostSplits = 2;
constexpr std::size_t kSplitEdges = std::size_t{1} << 22;

// Steps of mending a part once: by edge, and no fewer than that.
constexpr std::int64_t kStepsPerEdge = 64;
constexpr std::int64_t kLeastSteps = std::int64_t{1} << 24;

// How often both parts are mended at each height.
constexpr int kRounds = 3;

class FlatByParts {
 public:
  FlatByParts(const Core& core, const Orbits& orbits, const IdVector<Rank, std::int64_t>& owed,
              const LeastHeight& least_height, const PackOptions& options)
      : core_(core),
        orbits_(orbits),
        least_height_(least_height),
        options_(options),
        store_(core),
        left_(core.capacity),
        moved_{rows_of(owed, true), {orbits.arc_orbit, orbits.weight, {}}},
        fixed_{rows_of(owed, false), plain_resources(core.capacity)} {
    moved_.resources.residual.assign(core.capacity.size(), 0);
  }

  std::optional<PackedTrees> run(std::int32_t more) {
    if (moved_.part.trees.empty() || fixed_.part.trees.empty()) return std::nullopt;
    const std::int32_t least = least_height_.exact();
    const auto flat = [&](const TreeRows& rows, Resources& resources) {
      return pack_flat(rows, resources, std::min(least, 2), Fit::at_any_height, options_.stop);
    };
    if (!with_fixed(flat) || !with_moved(flat)) return std::nullopt;
    for (std::int32_t height = least; height <= least + more && is_overfull(); ++height) {
      for (int round = 0; round < kRounds && is_overfull(); ++round) mend(height);
    }
    if (!is_overfull()) lower();
    return take();
  }

 private:
  struct Half {
    TreePart part;
    Resources resources;
  };

  [[nodiscard]] TreePart rows_of(const IdVector<Rank, std::int64_t>& owed, bool moved) const {
    TreePart part;
    for (const Rank root : roots(orbits_, moved)) {
      if (owed[root] > 0) part.trees.push_back({root, owed[root], 0});
    }
    return part;
  }

  // Calls `work` on the trees of roots that stay, within what is left of every arc.
  template <class Work>
  bool with_fixed(Work&& work) {
    fixed_.resources.residual = left_;
    const bool done = work(rows(fixed_), fixed_.resources);
    left_ = fixed_.resources.residual;
    return done;
  }

  // Calls `work` on the others, within what is left of all arcs of an orbit.
  template <class Work>
  bool with_moved(Work&& work) {
    IdVector<ArcId, Capacity>& residual = moved_.resources.residual;
    const IdVector<ArcId, ArcId>& orbit = moved_.resources.of;
    for (std::size_t a = 0; a < left_.size(); ++a) residual[orbit[ArcId(a)]] = left_[ArcId(a)];
    for (std::size_t a = 0; a < left_.size(); ++a) {
      Capacity& least = residual[orbit[ArcId(a)]];
      least = std::min(least, left_[ArcId(a)]);
    }
    const IdVector<ArcId, Capacity> before = residual;
    const bool done = work(rows(moved_), moved_.resources);
    for (std::size_t a = 0; a < left_.size(); ++a) {
      left_[ArcId(a)] -= before[orbit[ArcId(a)]] - residual[orbit[ArcId(a)]];
    }
    return done;
  }

  [[nodiscard]] TreeRows rows(Half& half) {
    return {core_, store_.table(), half.part.trees, half.part.routes};
  }

  [[nodiscard]] bool is_overfull() const {
    return std::any_of(left_.begin(), left_.end(), [](Capacity left) { return left < 0; });
  }

  void mend(std::int32_t height) {
    const auto mend_part = [&](const TreeRows& rows, Resources& resources) {
      const auto edges = static_cast<std::int64_t>(rows.routes.size());
      Budget budget(std::max(kLeastSteps, kStepsPerEdge * edges), options_.stop);
      const std::size_t most_trees =
          std::max(kMostSplits * rows.trees.size(), kSplitEdges / core_.compute.size());
      return mend_overfull(rows, resources, height, most_trees, 1, budget);
    };
    with_moved(mend_part);
    with_fixed(mend_part);
  }

  void lower() {
    const Orbits each = trivial_orbits(core_);
    const auto lower_part = [&](const Orbits& orbits) {
      return [&](const TreeRows& rows, Resources& resources) {
        lower_edge_by_edge(rows, resources, orbits, least_height_.goal(), options_.effort,
                           options_.stop, options_.progress);
        return true;
      };
    };
    with_moved(lower_part(orbits_));
    with_fixed(lower_part(each));
  }

  PackedTrees take() {
    TreePart& all = moved_.part;
    const TreePart& fixed = fixed_.part;
    const std::size_t rows = all.trees.size();
    all.trees.insert(all.trees.end(), fixed.trees.begin(), fixed.trees.end());
    all.routes.insert(all.routes.end(), fixed.routes.begin(), fixed.routes.end());
    return {Forest(std::move(store_.table()), std::move(all.trees), std::move(all.routes),
                   orbits_.group, rows),
            {},
            stretch_of(core_.capacity, left_)};
  }

  const Core& core_;
  const Orbits& orbits_;
  const LeastHeight& least_height_;
  const PackOptions& options_;
  TreeStore store_;
  IdVector<ArcId, Capacity> left_;  ///< by arc, less than nothing where it is overfull
  Half moved_, fixed_;
};

}  // namespace

std::optional<PackedTrees> pack_flat_by_parts(const Core& core, const Orbits& orbits,
                                              const IdVector<Rank, std::int64_t>& owed,
                                              const LeastHeight& least_height, std::int32_t more,
                                              const PackOptions& options) {
  return FlatByParts(core, orbits, owed, least_height, options).run(more);
}

}  // namespace forestcoll::solver
