// The distance bound of the height where a fabric's symmetry is known.
#pragma once

#include <cstdint>

#include "forest/symmetry.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/rate.hpp"

namespace forestcoll::solver {

/// `height_lower_bound(network, weights)`, looking from one root of each orbit of `symmetry` where
/// that moves the arcs onto themselves, and from every root where it does not. REQUIRES: `symmetry`
/// is of nodes and ranks like the network's. Cost: as there by root, and O(m log m) per generator.
[[nodiscard]] std::int32_t distance_bound(const Network& network, const Weights& weights,
                                          const Symmetry& symmetry);

}  // namespace forestcoll::solver
