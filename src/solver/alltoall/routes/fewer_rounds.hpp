// The same legs in fewer rounds, by pushing others out.
#pragma once

#include <cstdint>
#include <span>

#include "solver/alltoall/routes/travellers.hpp"

namespace forestcoll::solver::alltoall {

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

}  // namespace forestcoll::solver::alltoall
