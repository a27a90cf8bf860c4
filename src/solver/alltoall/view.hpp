// What a fabric looks like from one of its ranks.
#pragma once

#include <cstddef>

#include "forestcoll/alltoall.hpp"
#include "forestcoll/network.hpp"
#include "solver/alltoall/instance.hpp"

namespace forestcoll::solver::alltoall {

/// Classes of nodes and arcs that colour refinement cannot tell apart once one rank is marked: a
/// node of a class has as many arcs of each class as any other node of it. Nodes that a symmetry
/// exchanges while the rank stays are in one class.
struct View {
  Partition nodes, arcs;
};

/// Nodes that need different amounts are told apart from the start.
/// Cost: O(n log n + m) per round; as many rounds as there are hops that matter.
[[nodiscard]] View view_from(const Network& network, NodeId source,
                             const IdVector<NodeId, std::int64_t>& needs);

}  // namespace forestcoll::solver::alltoall
