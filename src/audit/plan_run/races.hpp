// Accesses to one chunk under a plan that nothing orders.
#pragma once

#include <cstdint>
#include <span>

#include "audit/common/findings.hpp"
#include "audit/common/memory_map.hpp"
#include "audit/plan/file.hpp"
#include "audit/plan_run/graph.hpp"

namespace forestcoll::audit {

/// Adds a finding for every two operations that access one chunk, at least one of them writing, in
/// an order that the graph does not fix; and for every access to another rank's memory that may
/// come before that rank has begun its call, or after it has ended it. What only a relaxed signal
/// orders counts as not ordered, but for the beginning of a call and for reads that are to be over.
/// Packets are left out (packets.hpp).
/// `order` respects the graph. Cost: O(accesses · log + nodes · threadblocks / 64 · constant) in
/// bounded memory.
void check_plan_races(const PlanFile& plan, const PlanGraph& graph, const MemoryMap& memory,
                      std::span<const std::int32_t> order, Findings& findings);

}  // namespace forestcoll::audit
