// Whether memory is accessed while it is there.
#pragma once

#include "audit/common/findings.hpp"
#include "audit/common/memory_map.hpp"
#include "audit/execution/execution.hpp"
#include "audit/plan_run/graph.hpp"

namespace forestcoll::audit {

/// A rank's memory is there from the beginning to the end of its call. Adds a finding for every
/// access to another rank's memory that may come before or after that, and for every access through
/// a port channel that may come after it: the channel may still be reading its source when the call
/// that gave it the put has ended. Packets are left out (packets.hpp).
/// Cost: O(accesses), and that of `happens_before` for the beginnings and ends of all calls.
void check_lifetimes(const PlanGraph& graph, const Execution& execution, const MemoryMap& memory,
                     Findings& findings);

}  // namespace forestcoll::audit
