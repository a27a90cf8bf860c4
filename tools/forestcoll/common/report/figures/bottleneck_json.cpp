#include "common/report/figures/bottleneck_json.hpp"

#include <cstdint>

namespace forestcoll::cli {

Json to_json(const Bottleneck& bottleneck, const Topology& topology) {
  Json nodes = Json::array();
  std::int64_t compute_nodes = 0;
  for (const NodeId node : bottleneck.sending) {
    nodes.push_back(topology.nodes[node].id);
    compute_nodes += topology.nodes[node].type == NodeType::compute ? 1 : 0;
  }
  Json links = Json::array();
  for (const CrossingLink& link : bottleneck.links) {
    links.push_back({{"src", topology.nodes[link.src].id},
                     {"dst", topology.nodes[link.dst].id},
                     {"bandwidth", exact(link.bandwidth)}});
  }
  return {{"nodes", nodes},
          {"compute_nodes", compute_nodes},
          {"weight", bottleneck.weight},
          {"exit_bandwidth", exact(bottleneck.exit_bandwidth)},
          {"links", links}};
}

}  // namespace forestcoll::cli
