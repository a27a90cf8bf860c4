// A fabric in which trees can branch at switches.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "forestcoll/digraph.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::solver {

/// What one arc of a tree takes of the fabric.
struct TwinArc {
  ArcId along;  ///< the network's arc that data takes
  ArcId echo;   ///< and the one that its echo takes; invalid: none
  bool from_twin = false, to_twin = false;
};

/// Every switch that is spanned has a twin beside it, with the same links: through the switch go
/// paths, at its twin trees branch. Trees are out-trees; in-trees are out-trees on the fabric with
/// all arcs turned round. What a GPU gives to a twin that echoes comes back to it.
struct TwinGraph {
  Digraph graph;              ///< the network's nodes, then the twins in the order of `spanned`
  std::vector<TwinArc> arcs;  ///< by arc of `graph`
  std::vector<NodeId> spanned;

  [[nodiscard]] NodeId twin(std::size_t i) const {
    return NodeId(graph.node_count() - spanned.size() + i);
  }
};

/// `turned`: for in-trees. Cost: O(m log m).
[[nodiscard]] TwinGraph make_twin_graph(const Network& network, const SwitchRoles& roles,
                                        std::span<const NodeId> spanned, bool turned);

/// Those that can copy, or for in-trees combine, by id.
[[nodiscard]] std::vector<NodeId> able_switches(const SwitchRoles& roles, bool turned);

}  // namespace forestcoll::solver
