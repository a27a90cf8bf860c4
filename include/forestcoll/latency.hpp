// How long links take: as the file says, or else as links of their kind and place typically do.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "forestcoll/id.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll {

/// Links of one kind that have no latency of their own, and what is taken.
struct TypicalLatency {
  std::string kind;  ///< their label; may be empty
  Ratio us;
  std::size_t links = 0;  ///< that are in use
};

struct LinkLatencies {
  IdVector<LinkId, Ratio> us;           ///< one way
  std::size_t links = 0;                ///< in use: enabled, between enabled nodes
  std::vector<TypicalLatency> typical;  ///< by kind and value; empty where the file says all
};

/// The latency of every link: `TopologyLink::latency`, or where there is none the typical one of
/// its medium, which the first word of its kind that is known tells, and of its place: a network's
/// link counts by whether it leads to a leaf, to a switch that is alone or from switch to switch,
/// and PCIe by whether a bridge is between GPU and NIC. A kind that says nothing counts by the
/// link's ends: within a box as NVLink, or as PCIe where it leads to a NIC, else as InfiniBand.
/// Disabled parts count for the place of others, so a failure changes no latency.
/// docs/file-format.md has the values. Cost: O(n + m).
[[nodiscard]] LinkLatencies link_latencies(const Topology& topology);

}  // namespace forestcoll
