// What the executor takes for granted of packets.
#pragma once

#include "audit/common/findings.hpp"
#include "audit/plan/file.hpp"

namespace forestcoll::audit {

/// Checks it: that scratch has room for flags, and holds nothing else; that threads, not pipelines,
/// cut packets. REQUIRES: the operands' references lead somewhere. Cost: O(operations).
void check_packet_rules(const PlanFile& plan, Findings& findings);

}  // namespace forestcoll::audit
