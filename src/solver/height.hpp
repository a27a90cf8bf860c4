// Lower trees without moving any load.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "forestcoll/forest.hpp"
#include "forestcoll/id.hpp"

namespace forestcoll::solver {

/// Two trees of equal multiplicity may exchange the edges by which they reach a node v, as long as
/// neither new parent is below v: every link carries what it carried before, so nothing about the
/// rate has to be proved again. This exchanges edges while the deeper of the two places gets less
/// deep, working on the tallest trees first, and updates the heights in `trees`.
///
/// `routes[t * ranks + v]` reaches rank v in tree t. `effort` bounds the steps of the
/// search, after the trees have been measured once, so that the cost is about proportional to it
/// and the result the same on every machine.
void lower_heights(const RouteTable& table, std::vector<Forest::Tree>& trees,
                   std::span<Route> routes, std::size_t ranks, std::int64_t effort);

}  // namespace forestcoll::solver
