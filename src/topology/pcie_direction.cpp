#include "topology/pcie_direction.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

namespace forestcoll::topology {

IdVector<NodeId, bool> pcie_directions(const Topology& topology,
                                       const std::vector<DirectedLink>& arcs) {
  const std::size_t n = topology.nodes.size();
  IdVector<NodeId, bool> found(n, false);
  const bool candidates = std::ranges::any_of(topology.links, [](const TopologyLink& link) {
    return !link.full_duplex && link.kind == "pcie";
  });
  if (!candidates) return found;

  std::vector<std::pair<NodeId, NodeId>> present;
  for (const DirectedLink& link : arcs) present.emplace_back(link.arc.tail, link.arc.head);
  std::ranges::sort(present);
  IdVector<NodeId, bool> one_way(n, false), other(n, false);
  for (const DirectedLink& link : arcs) {
    const auto [tail, head] = link.arc;
    const std::string& kind = topology.links[link.link].kind;
    const bool both = std::ranges::binary_search(present, std::pair(head, tail));
    if (!both && kind == "pcie") one_way[tail] = one_way[head] = true;
    if (both && kind != "pcie" && kind != "cpu") other[tail] = other[head] = true;
  }
  for (std::size_t i = 0; i < n; ++i) {
    const NodeId id(i);
    const bool is_switch = topology.nodes[id].type == NodeType::switch_node;
    found[id] = is_switch && one_way[id] && !other[id];
  }
  return found;
}

}  // namespace forestcoll::topology
