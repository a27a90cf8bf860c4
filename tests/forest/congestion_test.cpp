// What trees put on links, counted by hand.
#include "forestcoll/congestion.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "forest/route_table.hpp"
#include "support/fabrics.hpp"

namespace forestcoll {
namespace {

// Ranks 0 and 1 beside each other: a tree from each, of three chunks and of one.
CollectiveForest pair_of_trees() {
  RouteTable table({NodeId(0), NodeId(1)});
  const std::vector<NodeId> ends[2] = {{NodeId(0)}, {NodeId(1)}};
  const SegmentId to[2] = {table.add_segment(ends[0]), table.add_segment(ends[1])};
  CollectiveForest forest;
  forest.broadcast = Forest(std::move(table), {{Rank(0), 3, 1}, {Rank(1), 1, 1}},
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

}  // namespace
}  // namespace forestcoll
