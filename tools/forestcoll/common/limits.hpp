// Fabrics with links that share a capacity (`limits` of a topology file), as commands work on them.
#pragma once

#include <string_view>

#include "command.hpp"
#include "common/fabric.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/job.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::cli {

/// E18 where links share a capacity, which `what` does not know.
[[nodiscard]] Expected<void> refuse_limits(const Topology& topology, std::string_view what);

/// Where links share a capacity, the fabric's network becomes what one collective of all its ranks
/// has of them at its best rate (`joint_optimum`): a part of each, and no limits, so that forests
/// and paths are made on it; the topology keeps the limits, for times and for `verify`. Says so.
/// REQUIRES: `operation` is of all ranks. Errors: E18 for unequal shares, those of `joint_optimum`
/// and `job_parts`.
[[nodiscard]] Expected<void> divide_limits(Fabric& fabric, const JobOperation& operation,
                                           const Console& console);

/// All ranks of a fabric run the collective.
[[nodiscard]] JobOperation operation_of_all(const Fabric& fabric, Collective collective);

}  // namespace forestcoll::cli
