// Lower trees edge by edge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>

#include "solver/height/common/tree_rows.hpp"
#include "solver/height/edges/moves.hpp"

namespace forestcoll::solver {

/// How far a descent goes.
struct DescentLimits {
  std::size_t most_trees = 0;  ///< no tree is split where there are so many
  std::int64_t steps = 0;      ///< of some nanoseconds
  MoveLimits moves;
};

/// The tallest trees first, and all of one height before the next: two trees exchange the ways by
/// which they reach a node, or all that reaches a group of ranks; a rank moves to spare capacity,
/// or to capacity whose user can move in turn (moves.hpp); trees are split where their
/// multiplicities differ. Ends where no tree is higher than `bound`, where nothing lowers any, or
/// at the limit. Afterwards the trees are in order of their roots, and equal ones joined.
void descend_heights(const TreeRows& rows, Resources& resources, std::int32_t bound,
                     const DescentLimits& limits, const std::stop_token& stop);

}  // namespace forestcoll::solver
