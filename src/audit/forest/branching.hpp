// Forests whose trees branch at switches that copy or combine: version 3 of the format.
#pragma once

#include "audit/common/findings.hpp"
#include "audit/forest/facts.hpp"
#include "audit/forest/file.hpp"
#include "forestcoll/topology.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll::audit {

/// Every tree spans the ranks and the switches that its edges end at; those can copy what is
/// broadcast, or combine what is reduced, and a root both. What is reduced at a node is broadcast
/// from it, and all of it together is the chunks of the file; a broadcast or reduce has one phase
/// and one rank for a root. With a topology: links, and their loads with echoes. Cost: O(edges and
/// nodes of paths).
void check_branching(const ForestFile& forest, const Topology* topology, const ForestFacts& facts,
                     Findings& findings, Verdict& verdict);

}  // namespace forestcoll::audit
