// Accesses to one chunk under a plan that nothing orders.
#pragma once

#include <string>

#include "audit/common/findings.hpp"
#include "audit/common/memory_map.hpp"
#include "audit/execution/execution.hpp"
#include "audit/plan/file.hpp"
#include "audit/plan_run/graph.hpp"

namespace forestcoll::audit {

inline constexpr const char* kNotRelaxed = "use signal and wait instead of rlxsignal and rlxwait";

/// Where a node accesses a chunk, for findings.
[[nodiscard]] Place place_of(const PlanGraph& graph, const MemoryMap& memory, std::int32_t node,
                             const ChunkRef& chunk);

/// Adds a finding for every two operations that race: what only a relaxed signal orders counts as
/// not ordered, but for reads that are to be over. And for every operation of which two operands
/// overlap.
void check_plan_races(const PlanFile& plan, const PlanGraph& graph, const Execution& execution,
                      const MemoryMap& memory, Findings& findings);

}  // namespace forestcoll::audit
