#include "solver/allreduce/part_both_ways.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "forestcoll/allreduce.hpp"
#include "in_network_fabrics.hpp"

namespace forestcoll {
namespace {

using testing::Cluster;
using testing::h100;
using testing::kEchoing;

// The network without what goes from one node to another; what goes back stays.
Network without(const Network& network, NodeId tail, NodeId head) {
  Network less = network;
  std::vector<Arc> arcs;
  less.capacity = {};
  for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
    const Arc& arc = network.graph.arcs()[a];
    if (arc.tail == tail && arc.head == head) continue;
    arcs.push_back(arc);
    less.capacity.push_back(network.capacity[ArcId(a)]);
  }
  less.graph = Digraph(network.graph.node_count(), arcs);
  return less;
}

// The NIC of the first GPU: of its two neighbours the one that is no NVSwitch.
NodeId first_nic(const Cluster& cluster) {
  const Digraph& graph = cluster.network.graph;
  const NodeId gpu = cluster.network.ranks.front();
  for (ArcId a = graph.first_out(gpu); a != graph.last_out(gpu); ++a.value) {
    if (graph.head(a) != cluster.nvswitches.front()) return graph.head(a);
  }
  return {};
}

TEST(PartBothWays, OfALinkBothDirectionsOrNone) {
  const Cluster boxes = h100(2);
  EXPECT_FALSE(solver::part_both_ways(boxes.network)) << "it is the whole";
  const NodeId gpu = boxes.network.ranks.front(), nic = first_nic(boxes);
  const auto part = solver::part_both_ways(without(boxes.network, gpu, nic));
  ASSERT_TRUE(part);
  EXPECT_EQ(part->graph.arc_count(), boxes.network.graph.arc_count() - 2);
  EXPECT_FALSE(part->graph.find(nic, gpu).valid());
  Network slower = boxes.network;
  const NodeId nvswitch = boxes.nvswitches.front();
  slower.capacity[slower.graph.find(gpu, nvswitch)] = 4;  // of 9 units of 50 GB/s
  const auto even = solver::part_both_ways(slower);
  ASSERT_TRUE(even);
  EXPECT_EQ(even->capacity[even->graph.find(nvswitch, gpu)], 4);
}

TEST(PartBothWays, NoneWhereARankWouldBeAlone) {
  const Cluster box = h100(1);
  const NodeId gpu = box.network.ranks.front();
  EXPECT_FALSE(solver::part_both_ways(without(box.network, gpu, box.nvswitches.front())));
}

// A NIC that still receives is of no use here: what is possible is what is possible without it, and
// trees are found that reach it.
TEST(PartBothWays, AnAllreduceWithoutOneDirectionOfANicIsExact) {
  const Cluster boxes = h100(2);
  const NodeId gpu = boxes.network.ranks.front(), nic = first_nic(boxes);
  const Network one_way = without(boxes.network, gpu, nic);
  const SwitchRoles roles = boxes.roles(kEchoing, {});
  const auto optimum = allreduce_optimum(one_way, roles);
  ASSERT_TRUE(optimum && optimum->split);
  EXPECT_TRUE(optimum->is_exact());
  EXPECT_EQ(optimum->split->algbw, 350);
  const auto without_nic = allreduce_optimum(without(one_way, nic, gpu), roles);
  ASSERT_TRUE(without_nic && without_nic->split);
  EXPECT_EQ(without_nic->split->algbw, 350);
  for (const auto* phase : {&optimum->split->broadcast, &optimum->split->reduce}) {
    for (const AllreduceTrees& trees : *phase) {
      for (const AllreduceArc& taken : trees.taken) {
        EXPECT_LT(taken.arc.index(), one_way.graph.arc_count());
      }
    }
  }
}

// Likewise where each GPU has a rail of its own and rails can sum: the other rails are alike.
TEST(PartBothWays, AnAllreduceOverRailsThatSumIsExactToo) {
  for (const std::size_t boxes : {2, 3}) {
    test::FabricBuilder fabric(boxes * 8, boxes + 8);
    const auto rail = [&](std::size_t gpu) { return boxes * 9 + gpu; };
    for (std::size_t box = 0; box < boxes; ++box) {
      for (std::size_t gpu = 0; gpu < 8; ++gpu) {
        fabric.link(box * 8 + gpu, boxes * 8 + box, 450);
        fabric.link(box * 8 + gpu, rail(gpu), 50);
      }
    }
    const Network network = without(fabric.build(), NodeId(0), NodeId(rail(0)));
    SwitchRoles roles(network.graph.node_count());
    for (std::size_t w = boxes * 8; w < roles.size(); ++w) {
      roles[NodeId(w)] = w < rail(0) ? kEchoing : testing::kSharp;
    }
    const auto optimum = allreduce_optimum(network, roles);
    ASSERT_TRUE(optimum && optimum->split) << boxes;
    EXPECT_EQ(optimum->upper, 350) << boxes;
    EXPECT_TRUE(optimum->is_exact()) << boxes;
    EXPECT_LT(optimum->statistics.variables, 200U) << boxes;  // by symmetry
  }
}

}  // namespace
}  // namespace forestcoll
