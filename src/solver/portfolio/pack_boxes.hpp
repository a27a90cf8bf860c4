// An allreduce whose trees go from box to box, each straight from its root's.
#pragma once

#include <optional>

#include "forestcoll/synthesize.hpp"
#include "solver/pack/problem.hpp"

namespace forestcoll::solver {

/// Flat trees of both phases at the same time (flat/flat_forests.hpp) that reach
/// `begun.forest.optimum`, roots with any shares and any number of trees. Nothing where there are
/// none, or links inside of boxes do not carry them. Cost: that of `flat_forests`.
[[nodiscard]] std::optional<Synthesis> pack_boxes(const Problem& problem,
                                                  const SynthesizeOptions& options,
                                                  Synthesis begun);

}  // namespace forestcoll::solver
