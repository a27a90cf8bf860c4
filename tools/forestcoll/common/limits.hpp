// Fabrics with links that share a capacity (`limits` of a topology file), as commands work on them.
#pragma once

#include <optional>
#include <string_view>

#include "command.hpp"
#include "common/fabric.hpp"
#include "forestcoll/alltoall.hpp"
#include "forestcoll/collective.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::cli {

/// E18 where links share a capacity, which `what` does not know.
[[nodiscard]] Expected<void> refuse_limits(const Topology& topology, std::string_view what);

/// A collective of all ranks.
struct WholeCollective {
  Collective collective = Collective::allreduce;
  std::optional<Rank> root = {};
  const Demand* demand = nullptr;  ///< of what goes along paths; none: equal blocks
};

/// Where links share a capacity, the fabric's network becomes what the collective has of them at
/// its best rate (`joint_optimum`): a part of each, and no limits, so that forests and paths are
/// made on it. The topology keeps the limits, for times and for `verify`, and so does
/// `Fabric::whole`. Says so. Errors: E18 for unequal shares and for relays, those of
/// `joint_optimum` and `within_limits`.
[[nodiscard]] Expected<void> divide_limits(Fabric& fabric, const WholeCollective& asked,
                                           const Console& console);

}  // namespace forestcoll::cli
