// From a planned collective to its forests.
#pragma once

#include <vector>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/pack.hpp"
#include "forestcoll/synthesize.hpp"
#include "solver/pack/problem.hpp"
#include "solver/rate/choose_scale.hpp"

namespace forestcoll::solver {

/// What other numbers of trees per root allow, where one was not asked for: for lower trees.
[[nodiscard]] std::vector<Scaling> other_scalings(const Phase& phase, const Scaling& scaling,
                                                  const SynthesizeOptions& options);

/// Chooses k, packs the trees of all phases, and puts the phases together. `begun`: what is known
/// so far, the optimum too. Errors: those of `synthesize`.
[[nodiscard]] Expected<Synthesis> plan_and_pack(const Problem& problem,
                                                const SynthesizeOptions& options, Synthesis begun);

}  // namespace forestcoll::solver
