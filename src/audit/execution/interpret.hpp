// Runs a program over symbolic data.
#pragma once

#include "audit/common/findings.hpp"
#include "audit/common/memory_map.hpp"
#include "audit/common/program.hpp"
#include "audit/common/symbolic_memory.hpp"
#include "audit/execution/execution.hpp"

namespace forestcoll::audit {

/// Follows every contribution of every rank through the program and checks that each rank ends
/// with what the collective promises: no read of what was never written, no contribution added
/// twice or to another chunk, out of place no write into the input. An operation whose input is
/// already wrong is not reported again. If the program has no race, any linear order gives the
/// same. Cost: O(chunks moved + chunks of memory).
Results interpret(const Program& program, const Execution& execution, const MemoryMap& memory,
                  const SymbolicMemory::PlaceOf& place_of, Findings& findings);

}  // namespace forestcoll::audit
