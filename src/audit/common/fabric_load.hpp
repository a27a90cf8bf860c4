// What a schedule's transfers load the links of a fabric with.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "audit/common/findings.hpp"
#include "audit/common/group_load.hpp"
#include "audit/common/program.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll::audit {

/// Data sent from one rank to another, in chunks.
using Transfers = std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t>;

/// The load of every arc, in chunks; nothing where exact arithmetic does not hold it.
/// A schedule says which rank sends to which, not by which cables. The model: data takes a route
/// with the fewest hops through switches alone, never through another compute node. A compute node
/// uses the links on which such a route is widest (NVLink rather than a NIC), a switch all of them;
/// several are shared in proportion to their width, which is the least capacity from there on along
/// a tree of alternatives. A pair without any route is a finding.
/// Cost: O(ranks × (nodes + arcs)) plus the arcs that carry something.
[[nodiscard]] std::optional<IdVector<ArcId, Ratio>> route_transfers(const Network& network,
                                                                    const Transfers& transfers,
                                                                    Findings& findings);

/// The same of one chunk from one rank to another: the arcs that carry something, in order. Cost:
/// O(nodes), and the arcs of those that are no farther.
[[nodiscard]] std::optional<std::vector<std::pair<ArcId, Ratio>>> route_transfer(
    const Network& network, Rank from, Rank to, Findings& findings);

/// Fills in loads, the busiest link, the limit of the topology that holds all up where no link
/// does, and algbw = 1 / max(load / bandwidth) of links and limits. `loads` are in shares of the
/// collective's whole buffer.
void report_loads(const Topology& topology, const Network& network,
                  const IdVector<ArcId, Ratio>& loads, Verdict& verdict);

/// What a schedule's ranks send, and access through switches, loads the links with, for the
/// verdict. Findings where the topology is not that of the schedule, or does not carry it.
void check_fabric(const Program& program, const Transfers& transfers, const GroupAccesses& accesses,
                  const Topology& topology, Findings& findings, Verdict& verdict);

/// ", held up by the link from A to B", after `report_loads`; empty where nothing is loaded.
[[nodiscard]] std::string what_holds_up(const Verdict& verdict);

}  // namespace forestcoll::audit
