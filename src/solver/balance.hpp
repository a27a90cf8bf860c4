// Trimming switches whose two sides differ.
#pragma once

#include <cstdint>
#include <span>

#include "forestcoll/digraph.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"

namespace forestcoll::solver {

/// True where as much capacity enters every switch as leaves it.
[[nodiscard]] bool is_balanced(const Digraph& graph, const IdVector<ArcId, Capacity>& capacity,
                               const IdVector<NodeId, Rank>& rank_of);

/// Lowers capacities until every switch is balanced, first where no demand needs them, then, if
/// that is not enough, wherever there is too much. True where every compute node can still be
/// sent all trees in `owed`; false where balance cost rate.
///
/// REQUIRES: the demand is carried at the start. A switch passes on no more than its narrower
/// side, so some such trimming exists for every packing; which one loses least is found greedily.
/// Cost: for each arc at an unbalanced switch up to log(capacity) tests of all sinks.
bool balance_switches(const Digraph& graph, IdVector<ArcId, Capacity>& capacity,
                      const IdVector<NodeId, Rank>& rank_of, std::span<const NodeId> compute,
                      const IdVector<Rank, std::int64_t>& owed);

}  // namespace forestcoll::solver
