// Trees that branch at switches, as flows.
#pragma once

#include "audit/forest/file.hpp"
#include "forestcoll/topology.hpp"
#include "simulate/fabric/fabric.hpp"
#include "simulate/sources/flow_phase.hpp"

namespace forestcoll::simulate {

/// What a rank stores to be copied goes to all ranks below at once, and so does what is combined
/// for a rank: the edges of a tree that meet at switches are one flow, which loads all their links,
/// echoes too. A switch that is a root passes on what it has summed up.
/// REQUIRES: verify finds the forest, of version 3, to be right on the fabric's topology.
/// Cost: O(edges · log edges).
[[nodiscard]] FlowPhase read_branching_phase(const audit::ForestFile& forest,
                                             const audit::TreeList& list, bool inward,
                                             const Topology& topology, Fabric& fabric);

}  // namespace forestcoll::simulate
