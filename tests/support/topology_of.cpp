#include "support/topology_of.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "forestcoll/generate.hpp"
#include "forestcoll/topology_text.hpp"
#include "support/files.hpp"
#include "support/valid.hpp"

namespace forestcoll::test {

Topology topology_of(const Network& network, const SwitchRoles& roles) {
  Topology topology;
  topology.name = "made";
  topology.ranks = network.ranks;
  for (std::size_t v = 0; v < network.graph.node_count(); ++v) {
    TopologyNode node;
    node.id = "n" + std::to_string(v);
    if (!network.is_compute(NodeId(v))) {
      node.type = NodeType::switch_node;
      const SwitchRole role = roles.empty() ? SwitchRole{} : roles[NodeId(v)];
      node.multicast = role.copies;
      node.reduce = role.combines;
      node.echo = role.echoes;
    }
    topology.nodes.push_back(node);
  }
  for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
    TopologyLink link;
    link.src = network.graph.tail(ArcId(a));
    link.dst = network.graph.head(ArcId(a));
    link.bandwidth = Ratio(network.capacity[ArcId(a)]) * network.unit;
    link.full_duplex = false;
    topology.links.push_back(link);
  }
  for (const ArcLimit& limit : network.limits) {
    SharedLimit shared{"", Ratio(limit.capacity) * network.unit, {}};
    for (const auto& [arc, weight] : limit.uses) {
      shared.uses.push_back({network.graph.tail(arc), network.graph.head(arc), Ratio(weight)});
    }
    topology.limits.push_back(std::move(shared));
  }
  return topology;
}

Topology generated_topology(const std::string& name,
                            const std::map<std::string, std::string>& values) {
  const TopologyDocument document = valid(generate(name, values), name);
  return valid(parse_topology(to_topology_json(document), name)).topology;
}

Fabric fabric_of(const std::string& text) {
  return valid(make_fabric(valid(parse_topology(text, "test")).topology, metadata_of(text)));
}

Fabric bundled_fabric(const std::string& name) {
  return fabric_of(bundled_text(name));
}

Topology bundled_topology(const std::string& name) {
  return valid(parse_topology(bundled_text(name), name)).topology;
}

Network bundled_network(const std::string& name) {
  return valid(to_digraph(bundled_topology(name)));
}

}  // namespace forestcoll::test
