// How many chunks per root, where nobody asked for a number.
#pragma once

#include "command.hpp"
#include "fabric.hpp"
#include "forestcoll/synthesize.hpp"
#include "solve.hpp"
#include "solver_options.hpp"
#include "synth_options.hpp"
#include "time_limit.hpp"

namespace forestcoll::cli {

/// The forest of the best power of two up to 16, or of a larger power of two up to 128 that gains
/// at least half a percent over the best so far and, as XML, fits the target: its trees carry
/// several chunks each, so that uneven trees share the data out more exactly. What is asked for by
/// number is solved as asked. Rows of the larger powers that were tried are in `tradeoff`.
/// Cost: that of `solve`, at most four times.
[[nodiscard]] Expected<Synthesis> solve_with_k(const Fabric& fabric, const SynthesizeOptions& asked,
                                               const SynthRequest& request,
                                               const SolverRequest& solver, const TimeLimit& limit,
                                               const Console& console);

}  // namespace forestcoll::cli
