// What symmetries leave alike in a fabric whose switches can copy and combine, and whose nodes
// stand in sets.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "forestcoll/network.hpp"
#include "forestcoll/rate.hpp"
#include "forestcoll/topology.hpp"
#include "solver/symmetry/network_orbits.hpp"

namespace forestcoll::solver {

/// A set of nodes that symmetries map onto sets with the same codes, node by node. Codes are
/// positive.
struct MarkedSet {
  std::vector<std::pair<NodeId, Capacity>> nodes;
};

/// Generators of a group of automorphisms that keep capacities, limits, weights, what switches can
/// do and these sets, of compute nodes: those of `find_symmetries` and `find_other_automorphisms`,
/// and the exchanges of switches with the same neighbours. Cost: that of the two, and O(m log m).
[[nodiscard]] std::vector<NodeImage> find_fabric_group(const Network& network,
                                                       const SwitchRoles& roles,
                                                       const Weights& weights,
                                                       std::span<const MarkedSet> sets = {});

}  // namespace forestcoll::solver
