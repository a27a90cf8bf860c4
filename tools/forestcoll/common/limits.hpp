// Fabrics with links that share a capacity (`limits` of a topology file), as commands work on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// What is told of `fabric.network.limits[number]`, with the weights of the file.
[[nodiscard]] BindingLimit limit_as_written(const Fabric& fabric, std::size_t number);
/// Those with a length in a proof. REQUIRES: `lengths` are of the fabric's limits.
[[nodiscard]] std::vector<BindingLimit> binding_limits(const Fabric& fabric,
                                                       const std::vector<std::int64_t>& lengths);
/// "limit bus of 16 GB/s, shared by 4 directions".
[[nodiscard]] std::string in_words(const BindingLimit& limit);

/// A collective of all ranks.
struct WholeCollective {
  Collective collective = Collective::allreduce;
  std::optional<Rank> root = {};
  const Demand* demand = nullptr;  ///< of what goes along paths; none: equal blocks
};

/// Where links share a capacity, the fabric's network becomes what the collective has of them at
/// its best rate (`joint_optimum`): a part of each, and no limits, so that forests and paths are
/// made on it. The topology keeps the limits, for times and for `verify`, and so does
/// `Fabric::whole`; `Fabric::binding_limits` are those that hold the collective up. Says so.
/// Errors: E18 for unequal shares and for relays, those of `joint_optimum` and `within_limits`.
[[nodiscard]] Expected<void> divide_limits(Fabric& fabric, const WholeCollective& asked,
                                           const Console& console);

}  // namespace forestcoll::cli
