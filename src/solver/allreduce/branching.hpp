// Which switches it pays to branch at.
#pragma once

#include <vector>

#include "forestcoll/id.hpp"
#include "solver/allreduce/allreduce_program.hpp"

namespace forestcoll::solver {

/// The switches at which a cheap tree over all ranks branches, where arcs cost what `length` says,
/// whichever way they are taken: a Steiner tree on the fabric by minimum spanning trees of the
/// ranks and switches (Mehlhorn 1988), which at first spans all switches that can branch, and then
/// leaves out those that are no branching points of it, again and again.
/// REQUIRES: all lengths are positive. Cost: O(m log m) a few times.
[[nodiscard]] std::vector<NodeId> cheap_branching(const AllreduceFabric& fabric, bool turned,
                                                  const IdVector<ArcId, double>& length);

}  // namespace forestcoll::solver
