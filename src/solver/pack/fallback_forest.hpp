// A forest at once, at whatever rate it reaches: the answer where there is no time for the best.
#pragma once

#include "forestcoll/network.hpp"
#include "forestcoll/pack.hpp"
#include "forestcoll/rate.hpp"

namespace forestcoll::solver {

/// One tree per rank of positive weight, its multiplicity that weight (k = 1): the rank that the
/// least loaded way reaches joins next, over the loads of all trees so far. `scaling.scale` is what
/// the loads need; where the fabric has symmetries, most trees may be images. Nothing is promised
/// of it. REQUIRES: all compute nodes reach one another. Cost: O(m log m) per orbit of roots, and
/// O(N · m log m) more up to two thousand ranks.
[[nodiscard]] Packing quick_forest(const Network& network, const Weights& weights);

}  // namespace forestcoll::solver
