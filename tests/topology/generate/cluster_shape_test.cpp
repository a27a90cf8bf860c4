// Clusters as they are bought: what is counted is what is built.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "forestcoll/generate.hpp"
#include "topology/topology_testing.hpp"

namespace forestcoll::testing {
namespace {

// Cables by kind, and the ports in use of every switch that is bought, counted in the topology.
struct Counted {
  std::map<std::string, std::size_t> cables;
  std::map<std::string, std::size_t> ports;
};

Counted count(const Topology& topology) {
  Counted counted;
  for (const TopologyLink& link : topology.links) {
    // A NIC that is two nodes has a link for each direction of its cable.
    const bool way_in =
        !link.full_duplex && topology.nodes[link.dst].id.find('/') != std::string::npos;
    if (way_in) continue;
    counted.cables[link.kind] += static_cast<std::size_t>(link.count);
    for (const NodeId end : {link.src, link.dst}) {
      const std::string& id = topology.nodes[end].id;
      const bool bought = id.find('/') == std::string::npos;
      if (bought) counted.ports[id] += static_cast<std::size_t>(link.count);
    }
  }
  return counted;
}

void expect_as_counted(const ClusterShape& shape, const ClusterPorts& ports) {
  const ClusterParts parts = parts_of(shape);
  EXPECT_LE(parts.widest_leaf, ports.leaf) << in_words(shape);
  EXPECT_LE(parts.widest_above, ports.above) << in_words(shape);
  const Topology topology = parse_valid(to_topology_json(to_document(shape)));
  EXPECT_EQ(topology.ranks.size(), shape.boxes * cluster_box(shape.box)->gpus);
  Counted counted = count(topology);
  EXPECT_EQ(counted.cables["nic"], parts.box_cables) << in_words(shape);
  EXPECT_EQ(counted.cables["row"], parts.row_cables) << in_words(shape);
  EXPECT_EQ(counted.cables["hall"], parts.hall_cables) << in_words(shape);
  std::size_t leaves = 0, above = 0, widest_leaf = 0, widest_above = 0;
  for (const auto& [id, used] : counted.ports) {
    const bool leaf = id.starts_with("leaf");
    ++(leaf ? leaves : above);
    std::size_t& widest = leaf ? widest_leaf : widest_above;
    widest = std::max(widest, used);
  }
  EXPECT_EQ(leaves, parts.leaves) << in_words(shape);
  EXPECT_EQ(above, parts.above) << in_words(shape);
  EXPECT_EQ(widest_leaf, parts.widest_leaf) << in_words(shape);
  EXPECT_EQ(widest_above, parts.widest_above) << in_words(shape);
}

TEST(ClusterShapeLong, PartsAreThoseOfTheTopology) {
  std::set<std::string> met;
  for (const char* box : {"dgx-h100", "dgx-1v"}) {
    for (const ClusterPorts ports : {ClusterPorts{8, 8}, {16, 64}, {32, 32}, {512, 512}}) {
      for (const ClusterShape& shape : cluster_shapes(box, 64, ports)) {
        met.insert(std::string(to_string(shape.layout)) + std::to_string(shape.levels));
        expect_as_counted(shape, ports);
      }
    }
  }
  EXPECT_EQ(
      met, (std::set<std::string>{"dragonfly2", "fat-tree1", "fat-tree2", "fat-tree3", "rail-only1",
                                  "rail-only2", "rail-only3", "rail2", "rail3"}));
}

// 53 is prime: the last leaf, pod or group is less full.
TEST(ClusterShapeLong, NumbersWithoutDivisorsHaveShapesToo) {
  std::set<std::string> met;
  for (const ClusterPorts ports : {ClusterPorts{8, 8}, {16, 32}, {32, 32}, {64, 64}}) {
    for (const ClusterShape& shape : cluster_shapes("dgx-h100", 53, ports)) {
      met.insert(std::string(to_string(shape.layout)) + std::to_string(shape.levels));
      expect_as_counted(shape, ports);
    }
  }
  for (const char* expected :
       {"fat-tree2", "fat-tree3", "rail2", "rail3", "rail-only2", "rail-only3", "dragonfly2"}) {
    EXPECT_TRUE(met.contains(expected)) << expected;
  }
}

// What goes down over what goes up is what was asked for, or less where cables do not divide.
TEST(ClusterShape, OversubscriptionIsNoMoreThanFour) {
  std::set<std::size_t> leaves;
  for (const ClusterShape& shape : cluster_shapes("dgx-h100", 256, {64, 64})) {
    if (shape.levels == 1 || shape.layout != ClusterLayout::rail_only) continue;
    EXPECT_GE(4 * shape.leaf_uplinks, shape.boxes_per_leaf) << in_words(shape);
    leaves.insert(shape.leaf_uplinks);
    if (shape.levels == 3) {
      EXPECT_GE(4 * shape.pod_uplinks, shape.leaves_per_pod) << in_words(shape);
    }
  }
  EXPECT_GE(leaves.size(), 4U);
}

TEST(ClusterShape, UnknownBoxesAreRefused) {
  EXPECT_EQ(cluster_box("dgx-9").errors().front().code, Code::G01);
  EXPECT_EQ(cluster_box("dgx-h100")->gpus, 8U);
}

}  // namespace
}  // namespace forestcoll::testing
