// The nodes and arcs that a fabric's symmetries exchange.
#pragma once

#include <cstddef>
#include <vector>

#include "forestcoll/network.hpp"
#include "forestcoll/rate.hpp"

namespace forestcoll::solver {

struct OrbitNumbers {
  std::vector<std::size_t> of;  ///< by item, numbered by their first items
  std::size_t count = 0;
};

struct NetworkOrbits {
  OrbitNumbers nodes, arcs;
};

/// Under the group that all automorphisms found together generate: a linear program about the
/// network has an optimum that is the same on all of an orbit, the average of an optimum's images.
/// Cost: that of `find_symmetries`.
[[nodiscard]] NetworkOrbits find_network_orbits(const Network& network, const Weights& weights);

}  // namespace forestcoll::solver
