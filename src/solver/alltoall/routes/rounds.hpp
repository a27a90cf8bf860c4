// When every leg of an all-to-all runs: rounds in which no link gets more than the others wait for.
#pragma once

#include "forestcoll/alltoall.hpp"
#include "forestcoll/network.hpp"

namespace forestcoll::solver::alltoall {

/// Puts every leg of the paths into a round, and counts the rounds. A round lasts as long as the
/// slowest leg takes alone, and no link is given more than it carries in that time: so what a rank
/// receives in a round comes at the rate of the links into it, whoever sends it. Path by path, a
/// leg takes the first round that has room on all of its links, after the leg before it. Paths that
/// then end later than the busiest link needs get a better place in the order, and all is done
/// again (Joslin, Clements, "Squeaky wheel optimization", 1999); the fewest rounds are kept. Then
/// `fit_into_rounds` takes one away after the other. Where links are alike and paths have one leg
/// each, this is edge colouring of a graph, where fewest is hard. Cost: O(legs · links of a leg ·
/// rounds) for each of at most 20 orders, in practice far less, as full rounds are skipped; with
/// what `fit_into_rounds` may look at, some seconds are the most.
void make_rounds(const Network& network, const Demand& demand, AlltoallRoutes& routes);

}  // namespace forestcoll::solver::alltoall
