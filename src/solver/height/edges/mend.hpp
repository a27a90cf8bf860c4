// From forests that ask too much of some links to such as fit.
#pragma once

#include <cstddef>
#include <cstdint>

#include "solver/common/budget.hpp"
#include "solver/height/common/tree_rows.hpp"

namespace forestcoll::solver {

/// Moves edges off resources that are overfull (`resources.residual` is negative) until none is,
/// and no tree that is touched is higher than `limit`: a rank gets another route, or one of its
/// children does, which it then follows; trees are split where a part of them moves, until there
/// are `most_trees`. For each that moves, up to `chain` others may have to make room. Where the
/// damage to a fabric is local, so is what has to move. False where some resource stays overfull,
/// or the budget is over: the trees then span as before, and less is overfull. Afterwards the trees
/// are in order of their roots, and equal ones joined.
bool mend_overfull(const TreeRows& rows, Resources& resources, std::int32_t limit,
                   std::size_t most_trees, int chain, Budget& budget);

}  // namespace forestcoll::solver
