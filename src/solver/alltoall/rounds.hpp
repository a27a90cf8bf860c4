// When every leg of an all-to-all runs: rounds in which no link gets more than the others wait for.
#pragma once

#include "forestcoll/alltoall.hpp"
#include "forestcoll/alltoall_routes.hpp"
#include "forestcoll/network.hpp"

namespace forestcoll::solver::alltoall {

/// Puts every leg of the paths into a round, and counts the rounds. A round lasts as long as the
/// slowest leg takes alone, and no link is given more than it carries in that time: so what a rank
/// receives in a round comes at the rate of the links into it, whoever sends it. A leg takes the
/// first round that has room on all of its links, after the one before it on its path; legs that
/// have more legs behind them choose first, then in the order of their distance in ranks, so that
/// nobody is everybody's first. Cost: O(legs · links of a leg · rounds), in practice far less, as
/// full rounds are skipped.
void make_rounds(const Network& network, const Demand& demand, AlltoallRoutes& routes);

}  // namespace forestcoll::solver::alltoall
