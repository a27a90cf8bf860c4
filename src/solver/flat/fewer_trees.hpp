// Lanes for a given number of trees, as near to exact ones as whole numbers are.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "solver/common/boxes.hpp"
#include "solver/flat/lanes.hpp"

namespace forestcoll::solver {

/// So many trees of each box, and lanes by the proportions of `exact`, rounded down; what is left
/// goes over lanes whose gates have the most room, and moves from lane to lane of a pair of boxes
/// as long as the fuller of their gates has less to carry then. Nothing where relays leave less
/// than nothing. Cost: O(lanes of a pair) for each lane, a few times.
[[nodiscard]] std::optional<Lanes> fewer_trees(const Boxes& boxes, const Lanes& exact,
                                               std::vector<std::int64_t> trees, bool is_one_phase);

/// What each gate carries by its capacity, of the one where that is the most: no trees over these
/// lanes reach more than all of them by this, in units of capacity.
[[nodiscard]] double fullest_gate(const Boxes& boxes, const Lanes& lanes);

}  // namespace forestcoll::solver
