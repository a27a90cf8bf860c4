#include "solver/pack/flat_by_parts.hpp"

#include <algorithm>
#include <utility>

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

// The arc the other way over the same nodes, as wide; invalid where there is none.
ArcId arc_back(const Core& core, ArcId arc) {
  const NodeId tail = core.graph.tail(arc), head = core.graph.head(arc);
  const auto along = core.segment(arc);
  const auto inner = along.first(along.size() - 1);
  ArcId back = core.graph.find(head, tail);
  if (!back.valid()) return back;
  for (; back != core.graph.last_out(head) && core.graph.head(back) == tail; ++back.value) {
    const auto other = core.segment(back);
    if (core.capacity[back] == core.capacity[arc] && other.size() == along.size() &&
        std::equal(inner.begin(), inner.end(), other.rbegin() + 1)) {
      return back;
    }
  }
  return {};
}

// What trees of all roots, or of one root per orbit, take, where an arc shares its capacity with
// the arc back. The arcs back from an orbit are one, too; where it is the same one, an image takes
// each of its links twice as often.
Resources resources_of(const IdVector<ArcId, ArcId>& orbit, IdVector<ArcId, std::int64_t> weight,
                       const ArcsBack& back) {
  Resources resources{{}, std::move(weight), {}};
  for (std::size_t i = 0; i < orbit.size(); ++i) {
    const ArcId a(i), other = orbit[back[a]];
    resources.of.push_back(std::min(orbit[a], other));
    if (back[a] != a && other == orbit[a]) resources.weight[a] *= 2;
  }
  return resources;
}

class FlatByParts {
 public:
  FlatByParts(const Core& core, const Orbits& orbits, const ArcsBack& back,
              const IdVector<Rank, std::int64_t>& owed, const LeastHeight& least_height,
              const PackOptions& options)
      : core_(core),
        orbits_(orbits),
        least_height_(least_height),
        options_(options),
        store_(core),
        left_(core.capacity),
        is_shared_(back != plain_resources(core.capacity).of),
        moved_{rows_of(owed, true), resources_of(orbits.arc_orbit, orbits.weight, back)},
        fixed_{rows_of(owed, false), {}} {
    Resources plain = plain_resources(core.capacity);
    fixed_.resources = resources_of(plain.of, std::move(plain.weight), back);
  }

  [[nodiscard]] bool has_both_parts() const {
    return !moved_.part.trees.empty() && !fixed_.part.trees.empty();
  }

  std::optional<PackedTrees> run(std::int32_t more) {
    const std::int32_t least = least_height_.exact();
    const auto make_flat = [&](Half& half, Capacity arriving) {
      return with_part(half, [&](const TreeRows& rows, Resources& resources) {
        return pack_flat(rows, resources, std::min(least, 2), Fit::at_any_height, options_.stop,
                         arriving);
      });
    };
    const Capacity moved = trees_in(moved_) * orbits_.images();
    const Capacity all = moved + trees_in(fixed_);
    if (!make_flat(fixed_, is_shared_ ? all : 0) || !make_flat(moved_, is_shared_ ? moved : 0)) {
      return std::nullopt;
    }
    for (std::int32_t height = least; height <= least + more && is_overfull(); ++height) {
      for (int round = 0; round < kRounds && is_overfull(); ++round) {
        const IdVector<ArcId, Capacity> before = left_;
        mend(height);
        if (left_ == before) break;
      }
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

  // Calls `work` on the trees of a part, within what is left of all arcs of a resource.
  template <class Work>
  bool with_part(Half& half, Work&& work) {
    if (half.part.trees.empty()) return true;
    const IdVector<ArcId, ArcId>& of = half.resources.of;
    IdVector<ArcId, Capacity>& residual = half.resources.residual;
    residual.assign(left_.size(), 0);
    for (std::size_t a = 0; a < left_.size(); ++a) residual[of[ArcId(a)]] = left_[ArcId(a)];
    for (std::size_t a = 0; a < left_.size(); ++a) {
      Capacity& least = residual[of[ArcId(a)]];
      least = std::min(least, left_[ArcId(a)]);
    }
    const IdVector<ArcId, Capacity> before = residual;
    const bool done = work(rows(half), half.resources);
    for (std::size_t a = 0; a < left_.size(); ++a) {
      left_[ArcId(a)] -= before[of[ArcId(a)]] - residual[of[ArcId(a)]];
    }
    return done;
  }

  [[nodiscard]] static std::int64_t trees_in(const Half& half) {
    std::int64_t trees = 0;
    for (const Forest::Tree& tree : half.part.trees) trees += tree.multiplicity;
    return trees;
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
    with_part(moved_, mend_part);
    with_part(fixed_, mend_part);
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
    with_part(moved_, lower_part(orbits_));
    with_part(fixed_, lower_part(each));
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
  bool is_shared_;                  ///< by an arc and the arc back
  Half moved_, fixed_;
};

}  // namespace

std::optional<PackedTrees> pack_flat_by_parts(const Core& core, const Orbits& orbits,
                                              const IdVector<Rank, std::int64_t>& owed,
                                              const LeastHeight& least_height, std::int32_t more,
                                              const PackOptions& options) {
  FlatByParts trees(core, orbits, plain_resources(core.capacity).of, owed, least_height, options);
  if (!trees.has_both_parts()) return std::nullopt;
  return trees.run(more);
}

std::optional<ArcsBack> arcs_back(const Core& core) {
  ArcsBack back;
  for (std::size_t i = 0; i < core.graph.arc_count(); ++i) {
    back.push_back(arc_back(core, ArcId(i)));
    if (!back[ArcId(i)].valid()) return std::nullopt;
  }
  return back;
}

std::optional<PackedTrees> pack_flat_undirected(const Core& core, const Orbits& orbits,
                                                const ArcsBack& back,
                                                const IdVector<Rank, std::int64_t>& owed,
                                                const LeastHeight& least_height, std::int32_t more,
                                                const PackOptions& options) {
  return FlatByParts(core, orbits, back, owed, least_height, options).run(more);
}

}  // namespace forestcoll::solver
