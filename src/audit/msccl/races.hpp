// Accesses to one chunk that nothing orders.
#pragma once

#include "audit/common/findings.hpp"
#include "audit/common/memory_map.hpp"
#include "audit/execution/execution.hpp"
#include "audit/msccl/step_graph.hpp"

namespace forestcoll::audit {

/// Adds a finding for every two steps that race, and every step whose source and destination
/// overlap. Cost: as `find_races`.
void check_races(const StepGraph& graph, const Execution& execution, const MemoryMap& memory,
                 Findings& findings);

}  // namespace forestcoll::audit
