// One writer per format, and what they share.
#pragma once

#include <string>
#include <vector>

#include "forestcoll/topology.hpp"
#include "topology/model/arcs.hpp"

namespace forestcoll::topology {

/// What is written of a topology: the enabled nodes, and an arc per direction of every enabled
/// link between them.
struct PlainGraph {
  const Topology& topology;
  std::vector<NodeId> nodes;
  std::vector<DirectedLink> arcs;

  [[nodiscard]] const std::string& id(NodeId node) const { return topology.nodes[node].id; }
};

/// A key and its value as text; `number` where it may stand without quotes.
struct Attribute {
  std::string key, value;
  bool number = false;
};

/// `type`, `rank`, `box`, `weight`, `multicast`, `reduce`, `echo`: those that say something.
[[nodiscard]] std::vector<std::vector<Attribute>> node_attributes(const PlainGraph& graph);
/// `bandwidth`, `cables`, `latency`, `kind`.
[[nodiscard]] std::vector<Attribute> edge_attributes(const TopologyLink& link);

[[nodiscard]] std::string write_networkx(const PlainGraph& graph);
[[nodiscard]] std::string write_json_graph(const PlainGraph& graph);
[[nodiscard]] std::string write_graphml(const PlainGraph& graph);
[[nodiscard]] std::string write_dot(const PlainGraph& graph);
[[nodiscard]] std::string write_csv(const PlainGraph& graph);

}  // namespace forestcoll::topology
