// With few ranks, what the linear program over low trees knows that a packing does not.
#pragma once

#include "forestcoll/synthesize.hpp"
#include "solver/pack/problem.hpp"

namespace forestcoll::solver {

/// Replaces `packed`, which no limit on the height was given for, by trees of the linear program
/// where these are faster, or as fast and lower. An allreduce has both phases at once there, if
/// `options.at_once` allows it; with k trees or powers of two only where that gains 5 %, as its
/// roots have unequal shares. For k trees the program's are rounded. Of one phase whose program has
/// none at a height, those that `pack_within_height` finds there. Nothing changes beyond
/// `LowTreeSearch::kMostExact` ranks, where `packed` was stopped, or with previous trees. `begun`:
/// what was known before the packing, the optimum of both phases at once too. Cost: that of
/// `solve_low` and of that search for a height or two, and up to 50 ms for each number of trees.
void lower_by_program(const Problem& problem, const SynthesizeOptions& options,
                      const Synthesis& begun, Synthesis& packed);

}  // namespace forestcoll::solver
