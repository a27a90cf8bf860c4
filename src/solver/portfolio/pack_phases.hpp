// A collective's phases, packed and put together.
#pragma once

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/synthesize.hpp"
#include "solver/pack/problem.hpp"
#include "solver/rate/choose_scale.hpp"

namespace forestcoll::solver {

/// Where there is a limit on the height, forests slower than `begun.forest.algbw` are worth
/// nothing. `begun` with the forest of `chosen`, and how it went: the trees are packed straight
/// into the fabric, phase by phase. A phase may have copies of a forest whose k divides the chosen
/// one, and where trees have to be low another k, see `open_scalings`. Where it is asked to stop
/// and the options want an answer, the best of what there is so far and of a quick forest. Errors:
/// those of `synthesize`; R01 also where no forest as low as asked for stood when it was stopped,
/// or is found that is worth anything. Cost: that of packing each phase.
[[nodiscard]] Expected<Synthesis> pack_phases(const Problem& problem,
                                              const SynthesizeOptions& options,
                                              const ChosenScale& chosen, Synthesis begun);

}  // namespace forestcoll::solver
