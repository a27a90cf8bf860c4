// Which GPUs a plan takes to share a box.
#pragma once

#include "audit/findings.hpp"
#include "audit/plan_file.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::audit {

/// Through a memory channel a GPU's threads reach into the other's memory, which ends with the box.
/// Adds a finding for every pair of ranks in different boxes that a plan joins by one. GPUs of
/// which the topology does not know the box are passed over.
/// REQUIRES: as many ranks as the topology has, and peers that are ranks. Cost: O(channels · log).
void check_plan_boxes(const PlanFile& plan, const Topology& topology, Findings& findings);

}  // namespace forestcoll::audit
