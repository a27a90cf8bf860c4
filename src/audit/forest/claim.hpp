// The rate that a forest claims, beside the one that its loads give.
#pragma once

#include <cstdint>
#include <vector>

#include "audit/common/findings.hpp"
#include "audit/forest/facts.hpp"
#include "forestcoll/topology.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll::audit {

/// Works out the algbw of the loads (by phase and arc, in multiplicities) and compares it with the
/// claim. Writes the verdict's algbw and links. REQUIRES: `facts.network`. Cost: O(arcs).
void check_claim(const ForestFacts& facts, const Topology& topology,
                 const std::vector<std::vector<std::int64_t>>& loads, Findings& findings,
                 Verdict& verdict);

/// Needs no topology: no forest is faster than the best one. The optimum of an allreduce is that of
/// one phase after the other; both at once are at most twice as fast, as each phase alone could
/// have the links that both of them have.
void compare_with_optimum(const ForestFacts& facts, Collective collective, Findings& findings);

}  // namespace forestcoll::audit
