// What automorphisms of a fabric exchange.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/rate.hpp"

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

/// Whether the image of every limit is a limit of the network. REQUIRES: arcs are mapped to arcs.
/// Cost: O(u log u) of all uses.
[[nodiscard]] bool keeps_limits(const NodeImage& image, const Network& network);
/// Whether every limit, on the same links the other way, is a limit of the network. REQUIRES: every
/// arc has one back.
[[nodiscard]] bool has_limits_both_ways(const Network& network);
/// The orbits of limits. REQUIRES: all automorphisms keep them.
[[nodiscard]] Partition limit_orbits(const Network& network,
                                     std::span<const NodeImage> automorphisms);

/// Under the group that all automorphisms found together generate: a linear program about the
/// network has an optimum that is the same on all of an orbit, the average of an optimum's images.
/// Cost: that of `find_symmetries`.
[[nodiscard]] NetworkOrbits find_network_orbits(const Network& network, const Weights& weights);

/// The nodes' part of it alone, for graphs of millions of arcs.
[[nodiscard]] Partition find_node_orbits(const Network& network, const Weights& weights);

}  // namespace forestcoll::solver
