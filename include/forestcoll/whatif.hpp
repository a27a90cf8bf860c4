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
/// effect.
struct FailureEffect {
  std::vector<LinkId> links;
  Ratio algbw;             ///< GB/s, the optimum without one of them; 0: compute nodes are cut off
  bool one_cable = false;  ///< one cable of the link's `count` fails; otherwise all of them
  /// Of links to NICs and PCIe switches that are two nodes, one for each direction: `links` lead to
  /// one end of the two nodes and these back, in the same order, and both fail together. Else
  /// empty.
  std::vector<LinkId> ways_back = {};
};

/// The text that `Failures::drop` takes for the failure of the first of these links, such as
/// "box0/gpu0~box0/nvsw*1". Nothing where several links join the same two nodes, so that their
/// names do not tell which one is meant. Cost: O(n + m).
[[nodiscard]] std::optional<std::string> drop_text(const FailureEffect& effect,
                                                   const Topology& topology);

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

/// Capacities that links share (`Topology::limits` by index): of one bandwidth, on links of as many
/// kinds, bandwidths and weights, such as both directions of all PCIe bridges.
struct LimitUpgradeEffect {
  std::vector<std::size_t> limits;
  Ratio algbw;  ///< GB/s with all of them wider, above the fabric's own
};

struct WhatIf {
  Ratio algbw;                               ///< GB/s of the fabric as it is
  std::vector<FailureEffect> failures = {};  ///< every enabled link once, the dearest first
  /// Every enabled link of several cables once, likewise: what the loss of one cable costs.
  std::vector<FailureEffect> cable_failures = {};
  std::vector<NodeFailureEffect> node_failures = {};  ///< every enabled node once, likewise
  std::vector<BoxFailureEffect> box_failures = {};    ///< every box once, where there are several
  std::vector<UpgradeEffect> upgrades =
      {};  ///< those that pay, the best first; of equals the fewest
  std::vector<LimitUpgradeEffect> limit_upgrades = {};  ///< likewise
  std::int64_t solved = 0;  ///< changed fabrics whose optimum was computed
  std::int64_t proved = 0;  ///< upgrades that a cut shows to be of no use, unsolved
};

/// The optimum of every fabric that lacks one link, one cable of a link, one node or one box, and
/// of those where a class of links that are alike, or of links in series (a NIC's two sides), or a
/// whole kind, or one link, or what links share, is wider: what nothing exceeds that the fabric can
/// do, the `at_most` of `rate_figures`, or where links share capacities that of `optimum_of_all`.
/// Exact: each is solved again, a single phase from the narrowest of the cuts met so far; an
/// upgrade is left out unsolved only where it misses one of the bottleneck's cuts, and so proves
/// itself useless. Errors: E14. Cost: a rate, of an allreduce the bound of `allreduce_optimum`, per
/// class of links (two where they have several cables), of nodes and of boxes, and per upgrade that
/// crosses all known cuts; with limits a joint optimum each.
[[nodiscard]] Expected<WhatIf> what_if(const Topology& topology, const WhatIfOptions& options = {});

// What an allreduce would lose if switches could do less in the network.

/// Switches that are alike: any one of them no longer copies, or no longer combines.
struct RoleFailureEffect {
  std::vector<NodeId> switches;
  bool multicast = true;  ///< it no longer copies; otherwise, it no longer combines
  Ratio algbw;            ///< GB/s: the optimum of an allreduce that is left

  /// What `Failures::drop` takes for the first of them: "box0/nvsw:multicast".
  [[nodiscard]] std::string drop_text(const Topology& topology) const;
};

struct RoleFailures {
  Ratio algbw;                                  ///< GB/s of the fabric as it is
  std::vector<RoleFailureEffect> effects = {};  ///< the dearest first
};

/// The optimum of an allreduce (the `at_most` of `rate_figures`) without one role of one switch at
/// a time; empty where no switch has any. Errors: E14. Cost: the bound of `allreduce_optimum` for
/// each class of switches that are alike and each of its roles.
[[nodiscard]] Expected<RoleFailures> role_failures(const Topology& topology,
                                                   const std::function<void()>& progress = {});

}  // namespace forestcoll
