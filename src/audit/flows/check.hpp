// Whether flows do what they promise: everything arrives, in order, at the rate that is claimed.
#pragma once

#include "audit/common/findings.hpp"
#include "audit/flows/file.hpp"
#include "forestcoll/topology.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll::audit {

/// Judges flows: all of every pair's data has a path (V17; of an all-to-all, every pair has data),
/// paths lead from sender to receiver (V24), no leg begins before its data is there (V15). With a
/// topology (which may be null), paths follow its links, and the rates that the file claims, of all
/// links at once and round by round, are what its paths reach (V25), by exact addition. Writes the
/// verdict's collective, ranks and chunks, with a topology its loads and rate.
/// Cost: O(nodes of all paths + ranks²).
void check_flows(const FlowsFile& flows, const Topology* topology, Findings& findings,
                 Verdict& verdict);

}  // namespace forestcoll::audit
