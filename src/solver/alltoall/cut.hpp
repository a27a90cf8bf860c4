// Cuts that prove as much as lengths do.
#pragma once

#include <vector>

#include "solver/alltoall/instance/answer.hpp"
#include "solver/alltoall/instance/instance.hpp"

namespace forestcoll::solver::alltoall {

/// Makes the arcs that leave these nodes the answer's lengths, and names the nodes.
void take_cut(const Instance& instance, const std::vector<bool>& sends, Answer& answer);

/// Puts a cut in place of the lengths where one proves no less: people can read it. Lengths that
/// are averages over symmetries often stand for many cuts that are alike, and each arc that is long
/// points at one: the nodes from which the arc is on a shortest path to its head (in a graph whose
/// distances are a sum of cuts this is a side of a cut; Djoković 1973).
/// Cost: O(m log n) per orbit of arcs, for some of them.
void prefer_cut(const Instance& instance, Answer& answer);

}  // namespace forestcoll::solver::alltoall
