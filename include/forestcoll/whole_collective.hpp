// One collective of all ranks as a joint demand, whose program holds what links share.
#pragma once

#include <optional>

#include "forestcoll/collective.hpp"
#include "forestcoll/commodity.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/job.hpp"
#include "forestcoll/joint_bound.hpp"
#include "forestcoll/network.hpp"

namespace forestcoll {

/// The operation of one group, which all ranks are in, in rank order; relays pass its data on as
/// switches do. REQUIRES: a root exactly where the collective needs one.
[[nodiscard]] JobOperation operation_of_all(const Network& network, Collective collective,
                                            std::optional<Rank> root = {});

/// What it moves: of an allgather or a reduce-scatter what `network.weight` says that each rank
/// owns, so that rates of `joint_optimum` are those of the whole buffer. REQUIRES: the operation is
/// that of `operation_of_all`, or that with a demand. Errors: those of `joint_demand`. Cost: that
/// of `joint_demand`.
[[nodiscard]] Expected<JointDemand> demand_of_all(const Network& network,
                                                  const JobOperation& operation);

/// The optimum of the operation, which relays help. Errors: those of `demand_of_all` and of
/// `joint_optimum`. Cost: that of `joint_optimum`.
[[nodiscard]] Expected<JointOptimum> optimum_of_all(const Network& network,
                                                    const JobOperation& operation,
                                                    const JointLimits& limits = {});

}  // namespace forestcoll
