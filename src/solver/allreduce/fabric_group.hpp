// What symmetries leave alike in a fabric whose switches can copy and combine.
#pragma once

#include <vector>

#include "forestcoll/network.hpp"
#include "forestcoll/rate.hpp"
#include "forestcoll/topology.hpp"
#include "solver/symmetry/network_orbits.hpp"

namespace forestcoll::solver {

/// Generators of a group of automorphisms that keep capacities, weights and what switches can do:
/// those of `find_symmetries` and `find_other_automorphisms`, and the exchanges of switches with
/// the same neighbours. Cost: that of the two, and O(m log m).
[[nodiscard]] std::vector<NodeImage> find_fabric_group(const Network& network,
                                                       const SwitchRoles& roles,
                                                       const Weights& weights);

}  // namespace forestcoll::solver
