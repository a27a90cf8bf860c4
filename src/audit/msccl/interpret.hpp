// Runs a program over symbolic data.
#pragma once

#include <cstdint>
#include <span>

#include "audit/common/findings.hpp"
#include "audit/common/memory_map.hpp"
#include "audit/common/program.hpp"
#include "audit/common/symbolic_memory.hpp"
#include "audit/msccl/step_graph.hpp"

namespace forestcoll::audit {

/// Follows every contribution of every rank through the program and checks that each rank ends
/// with what the collective promises: no read of what was never written, no contribution added
/// twice or to another chunk, out of place no write into the input. A step whose input is already
/// wrong is not reported again.
/// `order` is a linear order of happens-before; if the program has no race, any gives the same.
/// Cost: O(chunks moved + chunks of memory).
Results interpret(const Program& program, const StepGraph& graph, const MemoryMap& memory,
                  std::span<const std::int32_t> order, Findings& findings);

}  // namespace forestcoll::audit
