// The best of all forests that a search over the number of trees finds.
#pragma once

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/synthesize.hpp"
#include "solver/pack/problem.hpp"

namespace forestcoll::solver {

/// Of its highest tree.
[[nodiscard]] std::int32_t height_of(const CollectiveForest& forest);

/// Is `a` the one to take? The faster one; of equals the lower, and of these the one of fewer
/// trees. Where the number of trees is left to us (a power of two), trees half as high are worth
/// the last per cent of the rate.
[[nodiscard]] bool is_better(const CollectiveForest& a, const CollectiveForest& b,
                             const SynthesizeOptions& options);

/// Chooses k, packs the trees of all phases, and puts the phases together. Where the result is
/// below what the cuts allow at another number of trees that the options leave open, or with few
/// ranks as fast and not as low as possible, at those as well: the fastest, of equals the lowest,
/// of these the one of the fewest trees, as `is_better` says. So no number of trees that was open
/// is faster alone, but for powers of two by a per cent. Where it is asked to stop, the best so
/// far. `begun`: what is known so far, the optimum too. Errors: those of `synthesize`. Cost: that
/// of `pack_phases` for each number tried.
[[nodiscard]] Expected<Synthesis> choose_and_pack(const Problem& problem,
                                                  const SynthesizeOptions& options,
                                                  Synthesis begun);

}  // namespace forestcoll::solver
