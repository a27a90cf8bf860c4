#include "topology/model/arcs.hpp"

namespace forestcoll::topology {

std::vector<DirectedLink> enabled_arcs(const Topology& topology) {
  std::vector<DirectedLink> arcs;
  arcs.reserve(2 * topology.links.size());
  for (std::size_t i = 0; i < topology.links.size(); ++i) {
    const LinkId id(i);
    const TopologyLink& link = topology.links[id];
    if (!link.enabled || !topology.nodes[link.src].enabled || !topology.nodes[link.dst].enabled) {
      continue;
    }
    arcs.push_back({{link.src, link.dst}, id});
    if (link.full_duplex) arcs.push_back({{link.dst, link.src}, id});
  }
  return arcs;
}

}  // namespace forestcoll::topology
