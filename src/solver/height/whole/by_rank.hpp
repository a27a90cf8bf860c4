// Forests on fabrics without switches, made rank by rank.
#pragma once

#include <cstddef>
#include <cstdint>

#include "solver/common/budget.hpp"
#include "solver/height/common/tree_rows.hpp"

namespace forestcoll::solver {

/// Heights that are tried one after the other.
struct HeightRange {
  std::int32_t least = 1, most = 1;
};

/// Packs the trees that `rows.trees` names by roots, one each, and multiplicities (`rows.routes` is
/// empty)
/// into `resources.residual`, none higher than the least height of the range for which that is
/// found. Where there are no switches, the arcs into a rank are its own: breadth-first trees, which
/// may ask too much of some arcs, get within the capacities rank by rank. Each rank moves trees
/// from an overfull arc into it to another one whose tail is not below it, along augmenting paths;
/// what another rank has settled stays so. A tree is split where a part of it moves.
///
/// False, and nothing changed, where there are switches or orbits of arcs that share a resource,
/// where no forest is found so, where it would have more than `max_edges` edges, and where the
/// budget is over. Cost: O(trees · m), and some augmenting paths of O(trees) per rank.
bool pack_by_rank(const TreeRows& rows, Resources& resources, HeightRange heights,
                  std::size_t max_edges, Budget& budget);

}  // namespace forestcoll::solver
