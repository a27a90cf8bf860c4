// A quick interval for a demand without symmetry: cuts around boxes, and trees of cheapest paths.
#pragma once

#include "solver/alltoall/answer.hpp"
#include "solver/alltoall/instance.hpp"

namespace forestcoll::solver::alltoall {

/// Cuts around what fast links join, boxes for instance; and trees: all that a source sends goes
/// over one tree of cheapest paths, source by source, where a link costs exp(a · (its load − 1))
/// over its capacity, with loads at the rate that the cuts allow; again for a larger a, as long as
/// `gap` is not reached. On clusters, where a box or a NIC is what everybody waits for, that is an
/// interval of some percent before a better method has begun. Nothing where symmetries leave fewer
/// sources. Cost: O(sources · m log n) for each of two passes, and O(m + ranks²) for each island.
void consider_trees(const Instance& instance, double gap, Answer& answer);

}  // namespace forestcoll::solver::alltoall
