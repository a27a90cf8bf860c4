// Low forests of large fabrics that are symmetric but for some parts.
#pragma once

#include <cstdint>
#include <optional>

#include "forestcoll/id.hpp"
#include "forestcoll/pack.hpp"
#include "solver/common/budget.hpp"
#include "solver/pack/pack_trees.hpp"
#include "solver/symmetry/orbits.hpp"

namespace forestcoll::solver {

/// Flat trees (height/whole/flat.hpp) of the roots that the group leaves alone, and beside them
/// one for each orbit of the others, which stands for its images; then what is overfull is mended,
/// in both in turn, up to `more` levels above the least height. Images move what they all use by as
/// many units at once; the trees of the other roots, one by one, fill what that leaves. What comes
/// of it may need more than the capacities. Nothing without such roots of both kinds, where flat
/// trees do not reach all, and where somebody asks to stop.
/// Cost: that of flat trees and of mending, for one root per orbit.
[[nodiscard]] std::optional<PackedTrees> pack_flat_by_parts(
    const Core& core, const Orbits& orbits, const IdVector<Rank, std::int64_t>& owed,
    const LeastHeight& least_height, std::int32_t more, const PackOptions& options);

/// Of every arc the one the other way over the same nodes.
using ArcsBack = IdVector<ArcId, ArcId>;
/// Nothing where some arc has none as wide. Cost: O(m log degree).
[[nodiscard]] std::optional<ArcsBack> arcs_back(const Core& core);

/// The same of trees that an allreduce uses both ways at the same time: an edge takes its arcs and
/// the arcs back. Whoever is the root, the trees may be of one kind only, and the group trivial.
/// Nothing where flat trees do not reach all, and where somebody asks to stop.
[[nodiscard]] std::optional<PackedTrees> pack_flat_undirected(
    const Core& core, const Orbits& orbits, const ArcsBack& back,
    const IdVector<Rank, std::int64_t>& owed, const LeastHeight& least_height, std::int32_t more,
    const PackOptions& options);

}  // namespace forestcoll::solver
