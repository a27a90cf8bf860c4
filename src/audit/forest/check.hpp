// Whether a forest is one, and reaches the rate that it claims.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "audit/common/findings.hpp"
#include "audit/forest/facts.hpp"
#include "audit/forest/file.hpp"
#include "forestcoll/topology.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll::audit {

/// Checks that every tree spans all ranks with edges in the direction of its phase, heights,
/// multiplicities, trees per root and paths; with a topology also that paths follow links through
/// switches alone and that the claimed algbw is exactly the one reached. Fills in the verdict but
/// for findings.
///
/// In version 3 of the format trees branch at switches that copy or combine: every tree spans the
/// ranks and the switches that its edges end at; those can copy what is broadcast, or combine what
/// is reduced, and a root both. What is reduced at a node is broadcast from it, and all of it
/// together is the chunks of the file; a broadcast or reduce has one phase and one rank for a root.
/// With a topology: links, and their loads with echoes. Cost: linear in the file and the topology.
void check_forest(const ForestFile& forest, const Topology* topology, Findings& findings,
                  Verdict& verdict);

/// Works out the algbw of the loads (by phase and arc, in multiplicities) and compares it with the
/// claim. Writes the verdict's algbw and links. REQUIRES: `facts.network`. Cost: O(arcs).
void check_claim(const ForestFacts& facts, const Topology& topology,
                 const std::vector<std::vector<std::int64_t>>& loads, Findings& findings,
                 Verdict& verdict);

/// Needs no topology: no forest is faster than the best one. The optimum of an allreduce is that of
/// one phase after the other, where `may_be_of_both` says so; both at once are at most twice as
/// fast, as each phase alone could have the links that both of them have.
void compare_with_optimum(const ForestFacts& facts, bool may_be_of_both, Findings& findings);

/// A finding where a node does not hang on the root, or where the longest way to it has another
/// number of edges than the tree says. `parent[v]` is −1 where v has none. Cost: linear.
void check_shape(const ForestTree& tree, std::span<const std::int32_t> parent, std::int32_t root,
                 const std::function<std::string(std::int32_t)>& name_of, const std::string& where,
                 Findings& findings);

}  // namespace forestcoll::audit
