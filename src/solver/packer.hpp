// Packing spanning trees by lazy cuts.
#pragma once

#include <cstdint>
#include <optional>

#include "forestcoll/forest.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/pack.hpp"
#include "solver/core.hpp"

namespace forestcoll::solver {

struct PackedTrees {
  Forest forest;
  PackStatistics statistics;
};

/// Packs `owed[r]` spanning out-trees for each rank r into the core's capacities; nothing where
/// that is impossible, or where the search ended without one. With balanced switches a packing
/// exists as long as every cut can meet the demand (see packer.cpp); about others the theorem is
/// silent. The search tries at most 2^20 routes through switches per edge.
[[nodiscard]] std::optional<PackedTrees> pack_trees(const Core& core,
                                                    const IdVector<Rank, std::int64_t>& owed,
                                                    const Progress& progress);

}  // namespace forestcoll::solver
