// How many chunks per root, where nobody asked for a number.
#pragma once

#include <string>
#include <vector>

#include "command.hpp"
#include "fabric.hpp"
#include "forestcoll/synthesize.hpp"
#include "solve.hpp"
#include "solver_options.hpp"
#include "synth/options.hpp"
#include "time_limit.hpp"

namespace forestcoll::cli {

struct ChosenForest {
  Synthesis synthesis;
  std::string why;  ///< what the model said of those that could have been chosen; empty: no choice
};

/// What is asked for by number is solved as asked. Else, of the powers of two up to 16, and of
/// those up to 128 that gain at least half a percent each (their trees carry several chunks each,
/// so that uneven trees share the data out more exactly), those count that have a higher rate than
/// all smaller ones and, as XML, fit the target. XML gets the one that is fastest for 1 GiB as
/// `simulate` has it, and one of more chunks only where it gains 5 % by them; forests the one with
/// the highest rate. An allreduce over a number of ranks that is no power of two gets one of
/// `in_powers_of_two`, if one fits. Rows of the larger powers that were tried are in `tradeoff`.
/// Cost: that of `solve`, at most ten times.
[[nodiscard]] Expected<ChosenForest> solve_with_k(const Fabric& fabric,
                                                  const SynthesizeOptions& asked,
                                                  const SynthRequest& request,
                                                  const SolverRequest& solver,
                                                  const TimeLimit& limit, const Console& console);

/// Forests for an allreduce by XML over N ranks, N no power of two, whose roots sum unequal numbers
/// of chunks, 2^m in all: N·k chunks divide no power of two. Each has shares within 5 % of N equal
/// ones, and closer ones than those before it. Empty where that is not what is asked for, or where
/// N·k chunks are better: where N is a power of two, or shares come from the topology.
/// Cost: that of `solve`, at most four times.
[[nodiscard]] std::vector<Synthesis> in_powers_of_two(
    const Fabric& fabric, const SynthesizeOptions& asked, const SynthRequest& request,
    const SolverRequest& solver, const TimeLimit& limit, const Console& console);

}  // namespace forestcoll::cli
