// The best of all forests that a search over the number of trees finds.
#pragma once

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/synthesize.hpp"
#include "solver/pack/problem.hpp"

namespace forestcoll::solver {

/// Has the allreduce root so many trees at each rank.
void set_roots(CollectiveForest& forest, Weights trees);

/// No allreduce as fast is lower, whatever the shares of the roots. REQUIRES: both phases.
[[nodiscard]] std::int32_t least_height_of(const CollectiveForest& forest, const Network& network);

/// Of its highest tree.
[[nodiscard]] std::int32_t height_of(const CollectiveForest& forest);

/// Is `a` faster than `b`, of equals lower, or of these one of fewer trees?
[[nodiscard]] bool is_better(const CollectiveForest& a, const CollectiveForest& b);

/// The same where any number of trees will do as `mode` says: among powers of two, trees that are
/// lower by a quarter or more are worth 1 % of the rate.
[[nodiscard]] bool is_preferred(const CollectiveForest& a, const CollectiveForest& b,
                                TreesPerRoot::Mode mode);

/// Chooses k, packs the trees of all phases, and puts the phases together. Where the result is
/// below what the cuts allow at another number of trees that the options leave open, or with few
/// ranks as fast and not as low as possible, at those as well: the fastest, of equals the lowest,
/// of these the one of the fewest trees. So no number of trees that was open is faster alone; but
/// among powers of two the one that `is_preferred`, also where the cuts allow a little less. Where
/// it is asked to stop, the best so far. `begun`: what is known so far, the optimum too. Errors:
/// those of `synthesize`. Cost: that of `pack_phases` for each number tried.
[[nodiscard]] Expected<Synthesis> choose_and_pack(const Problem& problem,
                                                  const SynthesizeOptions& options,
                                                  Synthesis begun);

}  // namespace forestcoll::solver
