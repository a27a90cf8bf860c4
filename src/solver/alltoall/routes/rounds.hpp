// When every leg of an all-to-all runs: rounds in which no link gets more than the others wait for.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "forestcoll/alltoall.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::solver::alltoall {

/// Part of a path: its links carry the path's amount (parts · demand) at a time.
struct Leg {
  std::vector<ArcId> links;
};

struct Traveller {
  std::vector<Leg> legs;
  Int128 amount = 0;
};

/// By traveller and leg, ascending along a traveller's legs.
using LegRounds = std::vector<std::vector<std::int32_t>>;

/// Puts travellers whose legs are in rounds that no link is overfull in into `count` rounds, fewer
/// than before. Those that end too late wait. One that waits, whichever comes, goes where it pushes
/// out least: its legs, one after the other, to the rounds for which those in its way, counted once
/// and once more for every time that they were pushed out before, are the fewest; and those wait in
/// turn (an ejection chain with weights that learn: Glover 1996; Nagata, Bräysy, "A powerful route
/// minimization heuristic", 2009). Deterministic. `room` is what a link carries in a round.
/// Returns whether all found a place; else `rounds` are as before. `looks` at a rider of a link in
/// a round are counted down: at none left, it gives up. Cost: O(legs · count · riders of their
/// links) for each that waits.
[[nodiscard]] bool fit_into_rounds(std::span<const Traveller> travellers,
                                   std::span<const Int128> room, std::int32_t count,
                                   LegRounds& rounds, std::int64_t& looks);

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
