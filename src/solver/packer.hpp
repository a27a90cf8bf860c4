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
/// that is impossible, or where unbalanced switches, about which the theorem is silent, led into
/// a dead end. With balanced switches and demands that every cut can meet it always succeeds.
[[nodiscard]] std::optional<PackedTrees> pack_trees(const Core& core,
                                                    const IdVector<Rank, std::int64_t>& owed,
                                                    const Progress& progress);

}  // namespace forestcoll::solver
