// What a failure would cost, and what an upgrade would bring.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "forestcoll/collective.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll {

struct WhatIfOptions {
  Collective collective = Collective::allgather;
  std::optional<Rank> root = {};  ///< required for broadcast and reduce
  Ratio factor = 2;               ///< an upgraded link has so many times its bandwidth; above 1
  /// Called with what is done and the most that there will be.
  std::function<void(std::size_t, std::size_t)> progress = {};
};

/// Links that are alike by a symmetry of the fabric: the failure of any one of them has this
/// effect. A link is one of the topology, with all of its `count`.
struct FailureEffect {
  std::vector<LinkId> links;
  Ratio algbw;  ///< GB/s without one of them; 0 where that cuts compute nodes off
};

/// Nodes that are alike; the same of them. The collective is then one among the compute nodes that
/// are left, and algbw also 0 where those are fewer than two, own nothing, or lack the root.
struct NodeFailureEffect {
  std::vector<NodeId> nodes;
  Ratio algbw;
  /// Of NICs and PCIe switches that are two nodes, one for each direction, which fail together:
  /// `nodes` are the ways out, and these the ways in, in the same order. Else empty.
  std::vector<NodeId> ways_in = {};
};

/// What `Failures::drop` calls the parts of such an effect: ids of nodes, or "box0/nic3" of the two
/// nodes "box0/nic_out3" and "box0/nic_in3".
[[nodiscard]] std::vector<std::string> names_of(const NodeFailureEffect& effect,
                                                const Topology& topology);

/// Boxes that are alike, by name: the failure of all nodes of any one of them.
struct BoxFailureEffect {
  std::vector<std::string> boxes;
  Ratio algbw;
};

struct UpgradeEffect {
  std::vector<LinkId> links;
  bool together = true;  ///< all of them are upgraded; otherwise any one of them
  Ratio algbw;           ///< GB/s, above the fabric's own
};

struct WhatIf {
  Ratio algbw;                               ///< GB/s of the fabric as it is
  std::vector<FailureEffect> failures = {};  ///< every enabled link once, the dearest first
  std::vector<NodeFailureEffect> node_failures = {};  ///< every enabled node once, likewise
  std::vector<BoxFailureEffect> box_failures = {};    ///< every box once, where there are several
  std::vector<UpgradeEffect> upgrades =
      {};                   ///< those that pay, the best first; of equals the fewest
  std::int64_t solved = 0;  ///< changed fabrics whose optimum was computed
  std::int64_t proved = 0;  ///< upgrades that a cut shows to be of no use, unsolved
};

/// The optimum of every fabric that lacks one link, one node or one box, and of those where a class
/// of links that are alike, or of links in series (a NIC's two sides), or a whole kind, or one
/// link, is wider. Exact: each is solved again, from the narrowest of the cuts met so far; an
/// upgrade is left out unsolved only where it misses one of the bottleneck's cuts, and so proves
/// itself useless. Errors: E14. Cost: a rate per class of links, of nodes and of boxes, and per
/// upgrade that crosses all known cuts.
[[nodiscard]] Expected<WhatIf> what_if(const Topology& topology, const WhatIfOptions& options = {});

}  // namespace forestcoll
