// Switches whose two sides are equal.
#pragma once

#include "forestcoll/digraph.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"
#include "solver/common/core.hpp"

namespace forestcoll::solver {

/// True where as much capacity enters every switch as leaves it.
[[nodiscard]] bool is_balanced(const Digraph& graph, const IdVector<ArcId, Capacity>& capacity,
                               const IdVector<NodeId, Rank>& rank_of);

[[nodiscard]] bool is_balanced(const Core& core);
/// True of its core: NICs and switches that lead nowhere do not count. Cost: that of `make_core`.
[[nodiscard]] bool has_balanced_core(const Network& network);

}  // namespace forestcoll::solver
