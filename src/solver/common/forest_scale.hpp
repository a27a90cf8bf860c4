// What scale a forest that is there needs.
#pragma once

#include "forestcoll/forest.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::solver {

/// The least scale U at which the forest's loads fit the network's capacities times U.
/// REQUIRES: its edges' paths follow arcs of the network. Cost: O(L log d) for L hops of all edges
/// and d arcs out of a node.
[[nodiscard]] Ratio forest_scale(const Network& network, const Forest& forest);

}  // namespace forestcoll::solver
