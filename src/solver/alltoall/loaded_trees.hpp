// A quick interval for a demand without symmetry: cuts around boxes, and trees of cheapest paths.
#pragma once

#include "solver/alltoall/instance/answer.hpp"
#include "solver/alltoall/instance/instance.hpp"

namespace forestcoll::solver::alltoall {

/// The cut that proves most of those around what links faster than some capacity join: boxes, where
/// the network between them is slower, and single ranks. Nothing where links have many capacities
/// or only one. Cost: O(m + ranks²) for each island.
void consider_islands(const Instance& instance, Answer& answer);

/// Trees: all that a source sends goes over one tree of cheapest paths, source by source, where a
/// link costs exp(a · (its load − 1)) over its capacity, with loads at the rate that is proved so
/// far. Where `gap` is not reached so, again in five pieces: a half of what every source sends, a
/// quarter and so on, each over a tree that sees the pieces before. On clusters, where a box or a
/// NIC is what everybody waits for, that is an interval of some percent before a better method has
/// begun. Nothing where no rate is proved. Cost: O(sources · m log n) for each of six trees.
void consider_trees(const Instance& instance, double gap, Answer& answer);

}  // namespace forestcoll::solver::alltoall
