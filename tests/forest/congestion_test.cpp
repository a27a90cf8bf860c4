// What trees put on links, counted by hand.
#include "forestcoll/congestion.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "forest/route_table.hpp"
#include "support/fabrics.hpp"

namespace forestcoll {
namespace {

// Ranks 0 and 1 beside each other: a tree from each, of so many chunks.
CollectiveForest pair_of_trees(std::int64_t from_0 = 3, std::int64_t from_1 = 1) {
  RouteTable table({NodeId(0), NodeId(1)});
  const std::vector<NodeId> ends[2] = {{NodeId(0)}, {NodeId(1)}};
  const SegmentId to[2] = {table.add_segment(ends[0]), table.add_segment(ends[1])};
  CollectiveForest forest;
  forest.broadcast = Forest(std::move(table), {{Rank(0), from_0, 1}, {Rank(1), from_1, 1}},
                            {Route{}, {PrefixId(0), to[1]}, {PrefixId(1), to[0]}, Route{}});
  return forest;
}

Network pair_of_gpus() {
  test::FabricBuilder fabric(2);
  fabric.arc(0, 1, 4);
  fabric.arc(1, 0, 1);
  return fabric.build();
}

TEST(Congestion, LoadsAreInUnitsOfTheBuffer) {
  const Network network = pair_of_gpus();
  const auto loads = link_loads(pair_of_trees(), network);
  ASSERT_TRUE(loads);
  EXPECT_EQ((*loads)[network.graph.find(NodeId(0), NodeId(1))], Ratio(3, 4));
  EXPECT_EQ((*loads)[network.graph.find(NodeId(1), NodeId(0))], Ratio(1, 4));
}

TEST(Congestion, PhasesOfAnAllreduceAddUp) {
  const Network network = pair_of_gpus();
  CollectiveForest forest = pair_of_trees();
  forest.reduce = forest.broadcast->reversed();
  const auto loads = link_loads(forest, network);
  ASSERT_TRUE(loads);
  for (const Ratio& load : *loads) EXPECT_EQ(load, Ratio(1));
  EXPECT_EQ(congestion_algbw(forest, network), Ratio(1));
}

TEST(Congestion, TheMostLoadedLinkLimits) {
  Network network = pair_of_gpus();
  network.unit = Ratio(25);
  const CollectiveForest forest = pair_of_trees();
  EXPECT_EQ(congestion_algbw(forest, network), Ratio(100));
  EXPECT_EQ(congestion_algbw(*link_loads(forest, network), network), Ratio(100));
  const IdVector<ArcId, Ratio> unloaded(network.graph.arc_count(), Ratio(0));
  EXPECT_FALSE(congestion_algbw(unloaded, network));
}

// The load of an arc is a fraction of 64 bits over 64 bits; the rate that follows is a small one.
TEST(Congestion, IsExactWhereLoadsDoNotFit) {
  constexpr std::int64_t kBroadcast = 4294967291, kOfBroadcast = 1431655763;
  constexpr std::int64_t kReduce = 4294967279, kOfReduce = 1073741825;
  CollectiveForest forest = pair_of_trees(kOfBroadcast, kBroadcast - kOfBroadcast);
  forest.reduce = pair_of_trees(kReduce - kOfReduce, kOfReduce).broadcast->reversed();
  Network network = pair_of_gpus();
  const Int128 load = Int128{kOfBroadcast} * kReduce + Int128{kOfReduce} * kBroadcast;
  ASSERT_EQ(load % 8, 0);
  network.capacity[network.graph.find(NodeId(0), NodeId(1))] = static_cast<Capacity>(load / 8);
  network.capacity[network.graph.find(NodeId(1), NodeId(0))] = Capacity{1} << 62;
  network.unit = Ratio(1, kBroadcast);
  EXPECT_FALSE(link_loads(forest, network));
  EXPECT_EQ(congestion_algbw(forest, network), Ratio(kReduce, 8));
}

TEST(Congestion, WhatDoesNotFitIsNoRate) {
  CollectiveForest forest = pair_of_trees(1431655763, 4294967291 - 1431655763);
  forest.reduce = pair_of_trees(4294967279 - 1073741825, 1073741825).broadcast->reversed();
  EXPECT_FALSE(congestion_algbw(forest, pair_of_gpus()));
}

}  // namespace
}  // namespace forestcoll
