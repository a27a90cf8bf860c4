// A fabric for the forests of schedule/forests.hpp.
#pragma once

#include <string>

#include "forestcoll/topology.hpp"

namespace forestcoll::testing {

/// Ranks gpu0 … gpu(n−1), which are nodes 0 … n−1, and the switch "sw", which is node n.
inline Topology switched(int n, const std::string& name = "star") {
  Topology topology;
  topology.name = name;
  for (int v = 0; v < n; ++v) {
    TopologyNode node;
    node.id = "gpu" + std::to_string(v);
    topology.ranks.push_back(topology.nodes.push_back(node));
  }
  TopologyNode node;
  node.id = "sw";
  node.type = NodeType::switch_node;
  const NodeId at = topology.nodes.push_back(node);
  for (int v = 0; v < n; ++v) {
    TopologyLink link;
    link.src = NodeId(v);
    link.dst = at;
    link.bandwidth = Ratio(25);
    topology.links.push_back(link);
  }
  return topology;
}

}  // namespace forestcoll::testing
