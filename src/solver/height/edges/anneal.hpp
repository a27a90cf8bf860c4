// Lower trees by random exchanges.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>

#include "solver/height/common/tree_rows.hpp"
#include "solver/symmetry/orbits.hpp"

namespace forestcoll::solver {

/// Trees exchange, at random, the ways by which they reach a node, or all that reaches a group of
/// ranks; so loads stay as they are. An exchange is made where it raises the potential (see
/// shapes.hpp) by less than a threshold, which falls to nothing: threshold accepting (Dueck,
/// Scheuer 1990). The trees of a symmetric forest exchange with the images of others. Trees of
/// large multiplicity are split into powers of two, as only equal multiplicities exchange: the
/// greatest that is not above `piece` and makes no more than `most_trees`, if one does, and smaller
/// ones for the rest. Ends early where none is higher than `bound`; the trees may
/// also be higher than before. Nothing is done where they are too high for potentials in 64 bits.
/// Cost: at most `proposals` exchanges are considered, of some 100 ns each; the result is the same
/// on every machine. `progress` is told what part of them was considered, 0 … 1.
void anneal_heights(const TreeRows& rows, const Orbits& orbits, std::int32_t bound,
                    std::size_t most_trees, std::int64_t piece, std::int64_t proposals,
                    const std::stop_token& stop, const std::function<void(double)>& progress = {});

}  // namespace forestcoll::solver
