// Trees that differ in nothing but multiplicity are one.
#pragma once

#include <cstddef>
#include <vector>

#include "forest/route_table.hpp"
#include "forestcoll/forest.hpp"

namespace forestcoll::solver {

/// Joins trees of one root whose rows of `ranks` routes are the same, and puts all in order of
/// their roots; the first of its kind stays where it is among those of the root. Cost: O(trees),
/// and O(N) for each tree of a root that has several.
void join_equal_trees(std::vector<Forest::Tree>& trees, std::vector<Route>& routes,
                      std::size_t ranks);

}  // namespace forestcoll::solver
