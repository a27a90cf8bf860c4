// Forests of shortest-path trees, where the capacities allow them.
#pragma once

#include <cstddef>
#include <stop_token>

#include "solver/height/common/tree_rows.hpp"

namespace forestcoll::solver {

/// Packs the trees that `rows.trees` names by roots, one each, and multiplicities (`rows.routes` is
/// empty) into `resources.residual` as breadth-first trees, which no forest can beat in any depth,
/// if there are such within the capacities. For fabrics without switches: at each depth every rank
/// chooses among the neighbours that are nearer to the root, so that a choice within the
/// capacities is a flow from (root, rank) to resources, found by augmenting paths. On tori and
/// hypercubes there is one by symmetry. What the ranks choose for a root's trees lies side by side,
/// so that trees are as few as the choices have parts, whatever the multiplicities. False, and
/// nothing changed, where there are switches, weights other than 1, no such forest, or where it
/// would have more than `max_edges` edges.
///
/// Cost: O(roots · m) plus as much per augmenting path at worst, few in practice.
bool pack_shortest(const TreeRows& rows, Resources& resources, std::size_t max_edges,
                   const std::stop_token& stop);

}  // namespace forestcoll::solver
