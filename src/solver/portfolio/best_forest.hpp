// The best of all forests that a search over the number of trees finds.
#pragma once

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/synthesize.hpp"
#include "solver/pack/problem.hpp"
#include "solver/rate/choose_scale.hpp"

namespace forestcoll::solver {

/// `pack_phases` at `planned`; and where that is below what the cuts allow at another number of
/// trees that the options leave open, or with few ranks as fast and not as low as possible, at
/// those as well: the fastest, of equals the lowest, of these the one of the fewest trees. So no
/// number of trees that was open is faster alone. Where it is asked to stop, the best so far.
/// Errors: those of `pack_phases` at `planned`. Cost: that of `pack_phases` for each number tried.
[[nodiscard]] Expected<Synthesis> pack_best(const Problem& problem,
                                            const SynthesizeOptions& options,
                                            const ChosenScale& planned, const Synthesis& begun);

}  // namespace forestcoll::solver
