// A forest tree by tree, with the images of its trees under one group.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "forestcoll/id.hpp"
#include "forestcoll/pack.hpp"
#include "solver/common/budget.hpp"
#include "solver/pack/pack_trees.hpp"
#include "solver/symmetry/orbits.hpp"

namespace forestcoll::solver {

/// The roots to pack: those that the group moves, or those that it leaves alone.
[[nodiscard]] std::vector<Rank> roots(const Orbits& orbits, bool moved);

/// Packs `owed[r]` trees for each rank r as trees/packer.hpp has it: first one root of each orbit
/// that the group moves, with its images, then the others in what is left. Trees are lowered as far
/// as `options.effort` goes. Nothing where the budget is over, or where there is no such packing;
/// but where somebody asked to stop and `if_stopped` says so, what is still owed goes over the
/// least loaded ways, beyond the capacities.
[[nodiscard]] std::optional<PackedTrees> pack_tree_by_tree(const Core& core, const Orbits& orbits,
                                                           const IdVector<Rank, std::int64_t>& owed,
                                                           const LeastHeight& least_height,
                                                           const PackOptions& options,
                                                           IfStopped if_stopped, Budget& budget);

}  // namespace forestcoll::solver
