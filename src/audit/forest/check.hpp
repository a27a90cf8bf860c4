// Whether a forest is one, and reaches the rate that it claims.
#pragma once

#include "audit/common/findings.hpp"
#include "audit/forest/file.hpp"
#include "forestcoll/topology.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll::audit {

/// Checks that every tree spans all ranks with edges in the direction of its phase, heights,
/// multiplicities, trees per root and paths; with a topology also that paths follow links through
/// switches alone and that the claimed algbw is exactly the one reached. Fills in the verdict but
/// for findings. Cost: linear in the file and the topology.
void check_forest(const ForestFile& forest, const Topology* topology, Findings& findings,
                  Verdict& verdict);

}  // namespace forestcoll::audit
