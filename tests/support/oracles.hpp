// Slow, obvious answers by definition, to compare the solver with.
#pragma once

#include <string>

#include "forestcoll/forest.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/pack.hpp"
#include "forestcoll/rate.hpp"

namespace forestcoll::test {

/// max over all subsets S that miss a compute node of weight(S) / B⁺(S). For up to ~20 nodes.
Ratio brute_force_inverse_rate(const Network& network, const Weights& weights);

/// Checks a forest of out-trees by definition: every tree spans, every path follows arcs of the
/// network through switches alone, the loads stay within ⌊scale·b⌋, and every rank roots
/// k·weight trees. Empty where all holds, else what does not.
std::string find_forest_flaw(const Network& network, const Weights& weights, const Scaling& scaling,
                             const Forest& forest);

}  // namespace forestcoll::test
