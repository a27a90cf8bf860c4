// Packing spanning trees by lazy cuts.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "forestcoll/forest.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/pack.hpp"
#include "solver/core.hpp"
#include "solver/orbits.hpp"

namespace forestcoll::solver {

/// No forest is lower.
struct LeastHeight {
  std::int32_t distance = 0;            ///< a bound that is cheap to have
  std::function<std::int32_t()> exact;  ///< a better one, which takes a while
};

/// In which order roots get their trees. It matters where the theorem is silent.
enum class RootOrder { ascending, descending };

struct PackedTrees {
  Forest forest;
  PackStatistics statistics;
};

/// Packs `owed[r]` spanning out-trees for each rank r into the core's capacities; nothing where
/// that is impossible, or where the search ended without one. With balanced switches a packing
/// exists as long as every cut can meet the demand (see packer.cpp); about others the theorem is
/// silent. The search tries at most 2^20 routes through switches per edge.
///
/// The forest is made of trees and their images under the group of `orbits`; with a group that is
/// not trivial, nothing may also mean that no such forest was found.
/// Trees that are higher than they must be are lowered as far as `options.effort` goes;
/// `least_height` is only asked where trees are high enough to be worth the question.
[[nodiscard]] std::optional<PackedTrees> pack_trees(const Core& core, const Orbits& orbits,
                                                    const IdVector<Rank, std::int64_t>& owed,
                                                    RootOrder order,
                                                    const LeastHeight& least_height,
                                                    const PackOptions& options);

}  // namespace forestcoll::solver
