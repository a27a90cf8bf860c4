// What a topology has lost by failures without anybody saying so.
#pragma once

#include "forestcoll/topology.hpp"
#include "topology/model/findings.hpp"

namespace forestcoll::topology {

/// Warns (W01) of each switch that took in as much as it let out before, and does not any more; of
/// both halves of a device together. Cost: O(n + m).
void warn_of_switches(const Topology& before, const Topology& after, Findings& findings);

/// Warns of limits that have no effect any more, though their ends are all there: what a dropped
/// node was held to went with it. Cost: that of `ineffective_limits`.
void warn_of_limits(const Topology& before, const Topology& after, Findings& findings);

}  // namespace forestcoll::topology
