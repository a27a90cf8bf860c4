// Packing spanning trees by lazy cuts.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "forestcoll/forest.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/pack.hpp"
#include "forestcoll/ratio.hpp"
#include "solver/common/core.hpp"
#include "solver/height/height.hpp"
#include "solver/pack/pack_so_far.hpp"
#include "solver/symmetry/orbits.hpp"

namespace forestcoll::solver {

/// No forest is lower, or need be.
struct LeastHeight {
  std::int32_t distance = 0;            ///< a bound that is cheap to have
  std::function<std::int32_t()> exact;  ///< a better one, which takes a while
  HeightSearch search = {};

  [[nodiscard]] HeightGoal goal() const { return {exact(), search}; }
};

/// Groups under which images of a tree are trees.
struct Groups {
  std::span<const Symmetry> all;
  /// For `pack_flat_by_parts`, where a fabric is large enough for that.
  std::span<const Symmetry> in_blocks;
};

/// Is it? One root after the other takes too long there.
[[nodiscard]] bool is_packed_by_parts(std::size_t ranks);

struct PackedTrees {
  Forest forest;
  PackStatistics statistics;
  /// How many times the capacities its loads need, at least 1: above that it is no packing, but may
  /// be the best that is known.
  Ratio stretch = 1;

  [[nodiscard]] bool fits() const { return stretch == Ratio(1); }
};

/// `PackedTrees::stretch` where `left` is left of the capacities: less than nothing of some.
[[nodiscard]] Ratio stretch_of(const IdVector<ArcId, Capacity>& capacity,
                               const IdVector<ArcId, Capacity>& left);

/// Packs `owed[r]` spanning out-trees for each rank r into the core's capacities; nothing where
/// that is impossible, or where the search ended without one. With balanced switches a packing
/// exists as long as every cut can meet the demand (see trees/packer.cpp); about others the theorem
/// is silent. The search tries at most 2^20 routes through switches per edge.
///
/// There are several ways to pack: trees with their images under one of the `groups`, or root by
/// root; one by one or as a whole. They are tried in the order of what they are worth for what they
/// cost, each with a budget of counted work, until one finds a forest that is low enough; of those
/// found it is the one of the least stretch, of these the lowest, and of these the one of the
/// fewest trees. So it does not fit the capacities only where no way found one that does. Trees
/// that are higher than they must be are lowered as far as `options.effort` goes; `least_height` is
/// only asked where trees are high enough to be worth the question.
[[nodiscard]] std::optional<PackedTrees> pack_trees(const Core& core, const Groups& groups,
                                                    const IdVector<Rank, std::int64_t>& owed,
                                                    const LeastHeight& least_height,
                                                    const PackOptions& options,
                                                    IfStopped if_stopped);

}  // namespace forestcoll::solver
