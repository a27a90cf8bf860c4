// The forests of an allreduce whose phases share every link at the same time.
#pragma once

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/synthesize.hpp"
#include "solver/allreduce/at_once.hpp"
#include "solver/pack/problem.hpp"

namespace forestcoll::solver {

/// The faster of both phases at once, each on its part, and one after the other. Few trees may not
/// divide the parts as well as all of the fabric, trees may have to be lower, and time may be over:
/// then the latter can be faster. With previous trees, the one of both that keeps more of them.
/// `begun`: what is known so far of `in_turn`, the optimum too. Errors: those of `synthesize`.
/// Cost: that of `choose_and_pack`, twice where the first is no better than the optimum of the
/// other.
[[nodiscard]] Expected<Synthesis> pack_both_ways(const Problem& in_turn,
                                                 const AllreduceParts& parts,
                                                 const SynthesizeOptions& options, Synthesis begun);

}  // namespace forestcoll::solver
