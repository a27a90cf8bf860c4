// Balanced parts of a fabric that leave most of it, by a minimum-cost flow.
#pragma once

#include <cstdint>
#include <optional>

#include "forestcoll/digraph.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"

namespace forestcoll::solver {

/// What is taken from the arcs is a flow: a switch that more enters than leaves must lose the
/// difference on its way in. Of all integral capacities from `least` to `capacity` that balance
/// every switch, those for which Σ cost · (what the arc loses) is least; nothing where there are
/// none, which cannot be where `least` is 0.
/// REQUIRES: costs are positive. Cost: a network simplex (Király, Kovács 2012) on the fabric with
/// all compute nodes as one.
[[nodiscard]] std::optional<IdVector<ArcId, Capacity>> least_trimming(
    const Digraph& graph, const IdVector<ArcId, Capacity>& capacity,
    const IdVector<ArcId, Capacity>& least, const IdVector<NodeId, Rank>& rank_of,
    const IdVector<ArcId, std::int64_t>& cost);

}  // namespace forestcoll::solver
