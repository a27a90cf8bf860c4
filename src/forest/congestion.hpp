// What the most loaded arc lets trees reach.
#pragma once

#include <optional>

#include "forestcoll/branching_forest.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll {

/// In GB/s: 1 / max over arcs of load / bandwidth, where the load is that of the trees of all
/// phases together (multiplicity × arcs crossed), since the phases of an allreduce run at the same
/// time. As `verify` does for any schedule. Nothing where exact arithmetic does not hold it. Cost:
/// O(length of all routes). REQUIRES: the forest's routes follow arcs of `network`.
[[nodiscard]] std::optional<Ratio> congestion_algbw(const CollectiveForest& forest,
                                                    const Network& network);
/// The same of trees that branch at switches: echoes load the arcs, too.
/// REQUIRES: every switch that trees branch at has its role among `roles`.
[[nodiscard]] std::optional<Ratio> congestion_algbw(const BranchingForest& forest,
                                                    const Network& network,
                                                    const SwitchRoles& roles);

}  // namespace forestcoll
