// Packets: data in scratch with a flag beside it, the number of the call, for which readers wait.
#pragma once

#include "audit/common/findings.hpp"
#include "audit/common/memory_map.hpp"
#include "audit/execution/execution.hpp"
#include "audit/plan/file.hpp"
#include "audit/plan_run/graph.hpp"

namespace forestcoll::audit {

/// Lets every waiting read of packets come after what writes them. Findings: packets that nobody
/// writes, for which a read waits for ever, and packets that are written twice in a call, of which
/// readers take either. Cost: O(accesses).
void connect_packets(const PlanFile& plan, const MemoryMap& memory, PlanGraph& graph,
                     Findings& findings);

/// The next call writes the same packets again; with two halves of scratch, the one after that.
/// Adds a finding where nothing shows the writer that their reader has done with them.
/// Cost: O(accesses) and that of `happens_before`.
void check_packet_reuse(const PlanFile& plan, const PlanGraph& graph, const Execution& execution,
                        const MemoryMap& memory, Findings& findings);

}  // namespace forestcoll::audit
