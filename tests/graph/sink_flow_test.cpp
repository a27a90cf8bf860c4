// Maximum flows against minimum cuts over all subsets, sink after sink.
#include "graph/sink_flow.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "support/fabrics.hpp"

namespace forestcoll {
namespace {

struct Instance {
  Network network;
  std::vector<std::int64_t> capacity, supply;
};

Instance random_instance(std::uint64_t seed) {
  Instance instance;
  instance.network = test::random_fabric(seed, {.one_way = seed % 2 == 0, .unbalanced = true});
  std::mt19937_64 random(seed);
  for (const Capacity c : instance.network.capacity) instance.capacity.push_back(c);
  instance.supply.assign(instance.network.graph.node_count(), 0);
  for (const NodeId v : instance.network.ranks) {
    instance.supply[v.index()] = static_cast<std::int64_t>(random() % 5);
  }
  return instance;
}

// The least capacity into X plus supply in X over all X that hold the sink and nothing merged.
std::int64_t minimum_cut(const Instance& instance, NodeId sink, std::uint32_t merged) {
  const Digraph& graph = instance.network.graph;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (std::uint32_t side = 0; side < (1u << graph.node_count()); ++side) {
    if (!(side >> sink.value & 1) || (side & merged)) continue;
    std::int64_t value = 0;
    for (std::size_t v = 0; v < graph.node_count(); ++v) {
      if (side >> v & 1) value += instance.supply[v];
    }
    for (std::size_t a = 0; a < graph.arc_count(); ++a) {
      if (!(side >> graph.tail(ArcId(a)).value & 1) && (side >> graph.head(ArcId(a)).value & 1)) {
        value += instance.capacity[a];
      }
    }
    least = std::min(least, value);
  }
  return least;
}

TEST(SinkFlow, ReachesTheMinimumCutForEverySinkInTurn) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const Instance instance = random_instance(seed);
    graph::SinkFlow flow(instance.network.graph);
    flow.reset(instance.capacity, instance.supply);
    std::uint32_t merged = 0;
    for (const NodeId sink : instance.network.ranks) {
      const std::int64_t cut = minimum_cut(instance, sink, merged);
      ASSERT_TRUE(flow.send(sink, cut)) << "seed " << seed << " sink " << sink.value;
      ASSERT_FALSE(flow.send(sink, cut + 1)) << "seed " << seed << " sink " << sink.value;
      flow.merge(sink);
      merged |= 1u << sink.value;
    }
  }
}

TEST(SinkFlow, NamesAViolatedCutThatAddsUp) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Instance instance = random_instance(seed);
    const Digraph& graph = instance.network.graph;
    graph::SinkFlow flow(graph);
    flow.reset(instance.capacity, instance.supply);
    const NodeId sink = instance.network.ranks.back();
    const std::int64_t cut = minimum_cut(instance, sink, 0);
    ASSERT_FALSE(flow.send(sink, cut + 3));
    const std::vector<bool> side = flow.tight_sink_side(sink);
    ASSERT_TRUE(side[sink.index()]);
    std::int64_t value = 0;
    for (std::size_t v = 0; v < side.size(); ++v) value += side[v] ? instance.supply[v] : 0;
    for (std::size_t a = 0; a < graph.arc_count(); ++a) {
      if (!side[graph.tail(ArcId(a)).index()] && side[graph.head(ArcId(a)).index()]) {
        value += instance.capacity[a];
      }
    }
    EXPECT_EQ(value, cut) << "seed " << seed;
  }
}

TEST(SinkFlow, GoesOnAfterACapacityRises) {
  test::FabricBuilder builder(3);
  builder.arc(0, 1, 2);
  builder.arc(1, 2, 5);
  const Network network = builder.build();
  graph::SinkFlow flow(network.graph);
  const std::vector<std::int64_t> capacity = {2, 5}, supply = {10, 0, 0};
  flow.reset(capacity, supply);
  EXPECT_FALSE(flow.send(NodeId(2), 4));
  flow.add_capacity(ArcId(0), 1);
  EXPECT_FALSE(flow.send(NodeId(2), 4));
  flow.add_capacity(ArcId(0), 1);
  EXPECT_TRUE(flow.send(NodeId(2), 4));
  EXPECT_FALSE(flow.tight_sink_side(NodeId(2)).empty());
}

TEST(SinkFlow, HoldsCapacitiesBeyond32Bits) {
  test::FabricBuilder builder(2);
  builder.arc(0, 1, 1);
  const Network network = builder.build();
  graph::SinkFlow flow(network.graph);
  const std::int64_t wide = std::int64_t{1} << 60;
  const std::vector<std::int64_t> capacity = {wide}, supply = {wide, 0};
  flow.reset(capacity, supply);
  EXPECT_TRUE(flow.send(NodeId(1), wide));
  EXPECT_FALSE(flow.send(NodeId(1), wide + 1));
}

}  // namespace
}  // namespace forestcoll
