// More freedom is never worse: the best of an attempt and of those that are given less.
#pragma once

#include <functional>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/synthesize.hpp"

namespace forestcoll::solver {

/// What some options come to. Forests slower than `least` (GB/s) are worth nothing: an attempt that
/// cannot reach that may say R01 instead.
using Attempt = std::function<Expected<Synthesis>(const SynthesizeOptions&, const Ratio& least)>;

/// The best, as `is_better` has it, of `attempt(options, least)`, of those with lower limits on the
/// height, and where any number of trees will do of those for powers of two and, below the optimum,
/// for all up to 16.
/// Of a number of trees that is asked for, those of its divisors, as often as that makes as many.
/// What is tried for some options is tried for all that allow more, so that the rate never falls
/// with a higher limit, and is never below that of fewer numbers of trees. Ends early where nothing
/// can be better: at the optimum and no higher than has to be. `attempt(options)` alone with more
/// than 40 ranks, with previous trees, without `options.beside_less`, and where it failed or was
/// stopped. Lower limits end at the first that has nothing as fast: no lower one has more. The
/// first attempt alone has more than the usual effort, as it looks at lower heights by itself. All
/// share what `options.packing.known` knows. Cost: that of each attempt.
[[nodiscard]] Expected<Synthesis> best_beside_less(const Network& network,
                                                   const SynthesizeOptions& options,
                                                   const Attempt& attempt);

}  // namespace forestcoll::solver
