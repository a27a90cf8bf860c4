// What the trees of a forest put on the links, and what the most loaded link lets them reach.
#pragma once

#include <optional>

#include "forestcoll/branching_forest.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll {

/// Of every arc: data sent over it by all phases together, in units of the whole buffer. Nothing
/// where exact arithmetic does not hold it. Cost: O(length of all routes × log degree).
/// REQUIRES: the forest's routes follow arcs of `network`.
[[nodiscard]] std::optional<IdVector<ArcId, Ratio>> link_loads(const CollectiveForest& forest,
                                                               const Network& network);

/// In GB/s: 1 / max over arcs, and limits that they share, of load / bandwidth. Nothing where
/// nothing is loaded, or exact arithmetic does not hold it.
[[nodiscard]] std::optional<Ratio> congestion_algbw(const IdVector<ArcId, Ratio>& loads,
                                                    const Network& network);
/// The same for the loads of a forest: of all phases together, since the phases of an allreduce run
/// at the same time. As `verify` does for any schedule. Cost: as for `link_loads`.
/// REQUIRES: the forest's routes follow arcs of `network`.
[[nodiscard]] std::optional<Ratio> congestion_algbw(const CollectiveForest& forest,
                                                    const Network& network);
/// The same of trees that branch at switches: echoes load the arcs, too.
/// REQUIRES: every switch that trees branch at has its role among `roles`.
[[nodiscard]] std::optional<Ratio> congestion_algbw(const BranchingForest& forest,
                                                    const Network& network,
                                                    const SwitchRoles& roles);

}  // namespace forestcoll
