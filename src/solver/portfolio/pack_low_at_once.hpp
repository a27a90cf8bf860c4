// An allreduce of low trees whose phases share every link at the same time.
#pragma once

#include <cstdint>
#include <optional>

#include "forestcoll/network.hpp"
#include "forestcoll/synthesize.hpp"
#include "solver/pack/problem.hpp"

namespace forestcoll::solver {

struct LowAtOnce {
  Synthesis synthesis;
  bool is_optimal = false;  ///< no forest this low is faster, whatever its number of trees
};

/// The forests of both phases together that the linear program over trees no higher than
/// `options.max_height` finds: roots have any shares. For k trees these are rounded, to as many
/// trees in all; of several k the fastest. `begun`: what is known so far, the optimum too. `least`:
/// slower ones are worth nothing (GB/s). Nothing where there are none faster, nor where there are
/// more than 64 ranks, or for flat trees of any number 512, or no root reaches all others in so
/// many hops. REQUIRES: an allreduce with a limit on the height. Cost: that of `solve_low`, and up
/// to 50 ms per k.
[[nodiscard]] std::optional<LowAtOnce> pack_low_at_once(const Problem& problem,
                                                        const SynthesizeOptions& options,
                                                        const Synthesis& begun,
                                                        const Ratio& least = 0);

/// The hops within which some rank reaches all others, and all others reach it. REQUIRES: one does
/// at all. Cost: a search for the distances per rank.
[[nodiscard]] std::int32_t least_height_at_once(const Network& network);

}  // namespace forestcoll::solver
