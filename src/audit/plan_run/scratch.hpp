// Scratch of which every second call takes the other half.
#pragma once

#include "audit/common/findings.hpp"
#include "audit/common/memory_map.hpp"
#include "audit/execution/execution.hpp"
#include "audit/plan/file.hpp"
#include "audit/plan_run/graph.hpp"

namespace forestcoll::audit {

/// With use_double_scratch_buffer a rank's own threads take the second half of its scratch in every
/// second call; what other ranks, and the engines behind port channels, do there stays in the
/// first (packets apart). Adds a finding for every operation that reads a chunk of scratch in one
/// of these ways which was last written in the other. Cost: O(accesses).
void check_double_scratch(const PlanFile& plan, const PlanGraph& graph, const Execution& execution,
                          const MemoryMap& memory, Findings& findings);

}  // namespace forestcoll::audit
