// A fabric with parts that are gone, degraded or left out.
#pragma once

#include <string>
#include <vector>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll {

/// What is wrong with a fabric, in words that name nodes by id or host-list range:
///   node     "box0/nic3", "box[0-1]/nic[0-7]"
///   link     "A~B": all links that join a node of A and a node of B; "A->B": in that direction
///            alone; "kind=ib": all links of that kind
///   cables   "A~B*2", "A->B*2", "kind=ib*2": 2 of the parallel cables (`count`) of each such link.
///            An id that itself ends in *2 is written B*[2] at the end of a link.
///   role     "nvsw:multicast", "box[0-3]/nvsw:reduce": what such switches can do in the network
/// An id that holds ~, -> or a comma stands for itself: "e~f" is the node e~f where there is one,
/// "e~f~sw" the link of e~f and sw where e is no node, or f~sw is none.
struct Failures {
  std::vector<std::string> drop = {};    ///< links, cables, nodes and roles that are gone
  std::vector<std::string> derate = {};  ///< "LINK=F", 0 < F ≤ 1: F of the link's bandwidth is left
  /// Only these compute nodes take part, in this rank order: ids, ranges of ids, rank numbers and
  /// ranges of them, with commas between. The others are gone. Empty: all.
  std::string ranks = {};
  /// A process group: only these compute nodes take part, listed like `ranks`. Empty: all.
  std::string members = {};
  /// Which GPUs outside of the process group relay (`NodeType::relay`); the others are gone.
  enum class Relays {
    declared,  ///< those that the topology says do
    all,       ///< those that `members` leaves out, too
    none,
  };
  Relays relays = Relays::declared;
  /// "KIND=US": all links of the kind take so many µs, whatever the topology says ("ib=2",
  /// "nvlink=700 ns"; "=1" is of links without a kind). No failure, but what is known of a fabric.
  std::vector<std::string> latency = {};

  [[nodiscard]] bool empty() const {
    return drop.empty() && derate.empty() && ranks.empty() && members.empty() &&
           relays != Relays::none && latency.empty();
  }
};

struct DegradedTopology {
  Topology topology;                 ///< NodeIds are the same; what is gone is disabled
  std::vector<std::string> changes;  ///< "dropped the link box0/nic0 ~ ib0": one per item
  Diagnostics warnings = {};         ///< W01: switches whose two sides differ now, and did not
};

/// The fabric that is left. Drops first, then derates, then ranks, then members, each
/// in order, then relays and latencies. Errors: D01 a
/// name that nothing has (the nearest is suggested), D02 an item that cannot be read, D03 a factor
/// or latency out of range or more cables than there are, D04 a rank that cannot be one, E07 to E09
/// where the rest is no fabric (the remedy names relays where these join it), and E14 where a
/// bandwidth gets too fine for exact arithmetic. Cost: linear in the fabric per item.
[[nodiscard]] Expected<DegradedTopology> degrade(const Topology& topology,
                                                 const Failures& failures);

/// Whether GPUs outside of the process group relay.
[[nodiscard]] bool has_relays(const Topology& topology);

/// As programs find it: a runtime runs them on the ranks alone, so relays are gone.
[[nodiscard]] Topology without_relays(Topology topology);

}  // namespace forestcoll
