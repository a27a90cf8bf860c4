// Low trees of an allreduce that take every link both ways.
#pragma once

#include <optional>

#include "forestcoll/synthesize.hpp"
#include "solver/pack/problem.hpp"

namespace forestcoll::solver {

/// Flat trees that the reduce takes the other way round from the broadcast, both phases at once,
/// each link divided between them as the trees have it and not beforehand. Where both directions of
/// a link are as wide, any rank may be a tree's root: ranks behind narrow links root fewer of them,
/// so that flat trees fit. There are at most as many trees in all as are asked for. Where
/// directions differ, it is what both have that is used.
///
/// `begun`: with `forest.optimum`, which no allreduce exceeds, and `two_phases`. Nothing where flat
/// trees do not promise more than these; where the fabric has no groups of ranks with a way out, or
/// is too large for whole forests and no blocks of it are alike; and where somebody asks to stop.
/// Cost: that of flat trees and of mending them, up to three times.
[[nodiscard]] std::optional<Synthesis> pack_undirected(const Problem& problem,
                                                       const SynthesizeOptions& options,
                                                       const Synthesis& begun);

}  // namespace forestcoll::solver
