// Which GPUs a plan takes to share a box.
#pragma once

#include "audit/common/findings.hpp"
#include "audit/plan/file.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::audit {

/// Through a memory channel a GPU's threads reach into the other's memory, and a switch channel is
/// a piece of memory that all map; both end with the box. Adds one finding, with their number, for
/// all memory channels between boxes, one for all buffers reached by memory, and one for all
/// groups. GPUs of which the topology does not know the box are passed over. REQUIRES: as many
/// ranks as the topology has, and peers that are ranks. Cost: O(channels).
void check_plan_boxes(const PlanFile& plan, const Topology& topology, Findings& findings);

}  // namespace forestcoll::audit
