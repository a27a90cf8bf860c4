// What automorphisms of a fabric exchange.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"

namespace forestcoll::solver {

using NodeImage = IdVector<NodeId, NodeId>;

/// Items by the number of their class.
struct Partition {
  std::vector<std::size_t> of;  ///< by item
  std::size_t count = 0;
};

struct NetworkOrbits {
  Partition nodes, arcs;
};

/// The orbits of the group that these automorphisms generate. REQUIRES: they map arcs to arcs.
/// Cost: O(automorphisms · m log m).
[[nodiscard]] NetworkOrbits orbits_under(const Network& network,
                                         std::span<const NodeImage> automorphisms);

}  // namespace forestcoll::solver
