// Clusters as they are bought: what is counted is what is built.
#include "forestcoll/cluster_shape.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "topology/topology_testing.hpp"

namespace forestcoll::testing {
namespace {

TEST(ClusterShape, PartsAreThoseOfTheTopology) {
  std::set<std::string> met;
  for (const char* box : {"dgx-h100", "dgx-1v"}) {
    for (const std::size_t ports : {8, 16, 32, 512}) {
      for (const ClusterShape& shape : cluster_shapes(box, 64, ports)) {
        met.insert(std::string(to_string(shape.layout)) + std::to_string(shape.levels));
        const ClusterParts parts = parts_of(shape);
        EXPECT_LE(parts.widest, ports) << in_words(shape);
        const Topology topology = parse_valid(to_topology_json(to_document(shape)));
        EXPECT_EQ(topology.ranks.size(), 64 * cluster_box(box)->gpus);
        std::map<std::string, std::size_t> cables;
        std::map<std::int32_t, std::size_t> ports_used;
        for (const TopologyLink& link : topology.links) {
          // A NIC that is two nodes has a link for each direction of its cable.
          const bool way_in =
              !link.full_duplex && topology.nodes[link.dst].id.find('/') != std::string::npos;
          if (way_in) continue;
          cables[link.kind] += static_cast<std::size_t>(link.count);
          for (const NodeId end : {link.src, link.dst}) {
            const std::string& id = topology.nodes[end].id;
            const bool bought = id.find('/') == std::string::npos;
            if (bought) ports_used[end.value] += static_cast<std::size_t>(link.count);
          }
        }
        EXPECT_EQ(cables["nic"], parts.box_cables) << in_words(shape);
        EXPECT_EQ(cables["row"], parts.row_cables) << in_words(shape);
        EXPECT_EQ(cables["hall"], parts.hall_cables) << in_words(shape);
        EXPECT_EQ(ports_used.size(), parts.switches) << in_words(shape);
        std::size_t widest = 0;
        for (const auto& [node, used] : ports_used) widest = std::max(widest, used);
        EXPECT_EQ(widest, parts.widest) << in_words(shape);
      }
    }
  }
  EXPECT_EQ(
      met, (std::set<std::string>{"dragonfly2", "fat-tree1", "fat-tree2", "fat-tree3", "rail-only1",
                                  "rail-only2", "rail-only3", "rail2", "rail3"}));
}

TEST(ClusterShape, SwitchesOfEveryLevelAreThere) {
  for (const ClusterShape& shape : cluster_shapes("dgx-h100", 64, 32)) {
    const Topology topology = parse_valid(to_topology_json(to_document(shape)));
    for (const std::string& id : switches_of(shape)) {
      EXPECT_TRUE(std::ranges::any_of(topology.nodes,
                                      [&](const TopologyNode& node) { return node.id == id; }))
          << in_words(shape) << ": " << id;
    }
  }
}

TEST(ClusterShape, UnknownBoxesAreRefused) {
  EXPECT_EQ(cluster_box("dgx-9").errors().front().code, "G01");
  EXPECT_EQ(cluster_box("dgx-h100")->gpus, 8U);
}

}  // namespace
}  // namespace forestcoll::testing
