// Fabrics with links that share a capacity (`limits` of a topology file), as commands work on them.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string_view>

#include "command.hpp"
#include "common/fabric.hpp"
#include "forestcoll/alltoall.hpp"
#include "forestcoll/collective.hpp"
#include "forestcoll/demand.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/figures.hpp"
#include "forestcoll/joint_bound.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::cli {

/// E18 where links share a capacity, which `what` does not know.
[[nodiscard]] Expected<void> refuse_limits(const Topology& topology, std::string_view what);

/// `figures_within_limits`, where the optimum by trees may be `known`.
[[nodiscard]] RateFigures rates_within_limits(const Network& network, const SwitchRoles& roles,
                                              Collective collective, std::optional<Rank> root,
                                              const std::optional<JointOptimum>& known,
                                              const std::stop_token& stop = {});

/// The same in the units of an all-to-all, a scatter or a gather: the proof, without flows and with
/// the lengths of links alone. REQUIRES: the optimum is of `operation_of_all`, with the demand
/// where that is not of blocks. Errors: E14.
[[nodiscard]] Expected<AlltoallProof> proof_within_limits(const JointOptimum& optimum,
                                                          const Demand& demand);

/// The figures that follow; errors of `proof_within_limits` are theirs.
[[nodiscard]] RateFigures paths_figures(const JointOptimum& optimum, const ParsedDemand& demand);

/// A collective of all ranks.
struct WholeCollective {
  Collective collective = Collective::allreduce;
  std::optional<Rank> root = {};
  const Demand* demand = nullptr;  ///< of what goes along paths; none: equal blocks
  /// Of its trees, which then have the parts that the best of this height take, of 64 ranks at
  /// most.
  std::optional<std::int32_t> max_height = {};
};

/// Where links share a capacity, the fabric's network becomes what the collective has of them at
/// its best rate (`joint_optimum`): a part of each, and no limits, so that forests and paths are
/// made on it. The topology keeps the limits, for times and for `verify`, and so does
/// `Fabric::whole`; `Fabric::optimum` is the rate with the lengths that prove it, where parts are
/// of trees of any height. Says so. Errors: those of `joint_optimum` and `within_limits`.
[[nodiscard]] Expected<void> divide_limits(Fabric& fabric, const WholeCollective& asked,
                                           const Console& console);

}  // namespace forestcoll::cli
