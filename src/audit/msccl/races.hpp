// Accesses to one chunk that nothing orders.
#pragma once

#include <cstdint>
#include <span>

#include "audit/common/findings.hpp"
#include "audit/common/memory_map.hpp"
#include "audit/msccl/step_graph.hpp"

namespace forestcoll::audit {

/// Adds a finding for every two steps of a rank that access one chunk, at least one of them
/// writing, in an order that neither program order, nor flags, nor messages fix. Exact: what is
/// reported can happen at some message size, what is not reported cannot.
/// `order` is a linear order of happens-before. Cost: O(accesses + steps × threadblocks) with a
/// small constant (vector operations), in bounded memory.
void check_races(const StepGraph& graph, const MemoryMap& memory,
                 std::span<const std::int32_t> order, Findings& findings);

}  // namespace forestcoll::audit
