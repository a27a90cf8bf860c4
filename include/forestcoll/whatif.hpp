// What a failure would cost, and what an upgrade would bring.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
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

struct UpgradeEffect {
  std::vector<LinkId> links;
  bool together = true;  ///< all of them are upgraded; otherwise any one of them
  Ratio algbw;           ///< GB/s, above the fabric's own
};

struct WhatIf {
  Ratio algbw;                          ///< GB/s of the fabric as it is
  std::vector<FailureEffect> failures;  ///< every enabled link once, the dearest first
  std::vector<UpgradeEffect> upgrades;  ///< those that pay, the best first; of equals the fewest
  std::int64_t solved = 0;              ///< changed fabrics whose optimum was computed
  std::int64_t proved = 0;              ///< upgrades that a cut shows to be of no use, unsolved
};

/// The optimum of every fabric that lacks one link, and of those where a class of links that are
/// alike, or of links in series (a NIC's two sides), or a whole kind, or one link, is wider.
/// Exact: each is solved again, from the narrowest of the cuts met so far; an upgrade is left out
/// unsolved only where it misses one of the bottleneck's cuts, and so proves itself useless.
/// Errors: E14. Cost: a rate per class of links, and per upgrade that crosses all known cuts.
[[nodiscard]] Expected<WhatIf> what_if(const Topology& topology, const WhatIfOptions& options = {});

}  // namespace forestcoll
