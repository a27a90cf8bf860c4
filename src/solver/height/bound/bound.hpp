// The distance bound of the height where a fabric's symmetry is known.
#pragma once

#include <cstdint>

#include "forest/symmetry.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/rate.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::solver {

/// By rank: hops to the farthest other one, any way through switches being one; 0 for ranks without
/// weight, and the number of ranks where some is out of reach. Cost: O(m · height) for 64 ranks.
[[nodiscard]] IdVector<Rank, std::int32_t> farthest(const Network& network, const Weights& weights);

/// `height_lower_bound(network, weights)`, looking from one root of each orbit of `symmetry` where
/// that moves the arcs onto themselves, and from every root where it does not. REQUIRES: `symmetry`
/// is of nodes and ranks like the network's. Cost: as there by root, and O(m log m) per generator.
[[nodiscard]] std::int32_t distance_bound(const Network& network, const Weights& weights,
                                          const Symmetry& symmetry);

/// No allreduce at this rate, in the network's units, is lower, whatever the shares of its roots,
/// both phases at once or one after the other: all may be rooted at the rank that is nearest to the
/// farthest others, and links between boxes may force more (cuts.hpp). REQUIRES and cost: as above,
/// both ways, and that of `divisions_into_boxes`.
[[nodiscard]] std::int32_t allreduce_height_bound(const Network& network, const Ratio& rate,
                                                  const Symmetry& symmetry);

}  // namespace forestcoll::solver
