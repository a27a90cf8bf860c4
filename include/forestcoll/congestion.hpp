// What the most loaded arc lets trees reach.
#pragma once

#include <optional>

#include "forestcoll/forest.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll {

/// In GB/s: 1 / max over arcs of load / bandwidth, where the load is that of the trees of all
/// phases together (multiplicity × arcs crossed), since the phases of an allreduce run at the same
/// time. As `verify` does for any schedule. Nothing where exact arithmetic does not hold it. Cost:
/// O(length of all routes). REQUIRES: the forest's routes follow arcs of `network`.
[[nodiscard]] std::optional<Ratio> congestion_algbw(const CollectiveForest& forest,
                                                    const Network& network);

}  // namespace forestcoll
