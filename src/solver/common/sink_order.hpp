// The order in which sinks are checked: neighbours after each other.
#pragma once

#include <span>
#include <vector>

#include "forestcoll/digraph.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"

namespace forestcoll::solver {

/// The nodes of `sinks` in the order in which a Prim-like search, widest arc first, meets them:
/// when a sink's turn comes, what feeds it widest has been merged into the source, so its flow is
/// short. Starts at `start`. Cost: O(m log m).
[[nodiscard]] std::vector<NodeId> locality_order(const Digraph& graph,
                                                 const IdVector<ArcId, Capacity>& capacity,
                                                 std::span<const NodeId> sinks, NodeId start);

}  // namespace forestcoll::solver
