// Trees that go from box to box, each straight from its root's.
#pragma once

#include <optional>

#include "forestcoll/synthesize.hpp"
#include "solver/pack/problem.hpp"

namespace forestcoll::solver {

/// Of the optimum, what flat trees of few numbers reach that need no other search.
inline constexpr double kEnoughOfFlat = 0.995;

/// Flat trees (flat/flat_forests.hpp) of both phases of an allreduce at the same time, roots with
/// any shares, or of the one phase of an allgather or reduce-scatter: at `begun.forest.optimum`
/// where any number of trees is open, else with one of those that are, which whole numbers keep a
/// little below it. Nothing where there are none, or any number is open and links inside of boxes
/// do not carry them, nor on more than 1,024 GPUs but of an allreduce with any number of trees.
/// `least_height` is known of an allreduce alone. Cost: that of `flat_forests`, twice.
[[nodiscard]] std::optional<Synthesis> pack_boxes(const Problem& problem,
                                                  const SynthesizeOptions& options,
                                                  const Synthesis& begun);

/// Flat trees in place of those that are higher than they need be, of one phase or of an allreduce
/// that is no faster with both at once, where `is_preferred` prefers them. Cost: that of
/// `pack_boxes`, where trees are two hops above their bound.
void lower_by_boxes(const Problem& problem, const SynthesizeOptions& options,
                    const Synthesis& begun, Synthesis& packed);

}  // namespace forestcoll::solver
