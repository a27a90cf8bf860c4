// What scale a forest that is there needs.
#pragma once

#include "forestcoll/forest.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::solver {

/// The least scale U at which the forest's loads fit the network's capacities times U.
/// REQUIRES: its edges' paths follow arcs of the network, and its loads fit 64 bits. Cost: that of
/// count_on_arcs.
[[nodiscard]] Ratio forest_scale(const Network& network, const Forest& forest);

}  // namespace forestcoll::solver
