#include "forestcoll/digraph.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <vector>

namespace forestcoll {
namespace {

TEST(Digraph, NumbersArcsByTailThenHead) {
  const std::vector<Arc> arcs = {{NodeId(2), NodeId(0)},
                                 {NodeId(0), NodeId(2)},
                                 {NodeId(0), NodeId(1)},
                                 {NodeId(0), NodeId(1)}};
  std::vector<std::size_t> order;
  const Digraph graph(3, arcs, &order);
  EXPECT_EQ(order, (std::vector<std::size_t>{2, 3, 1, 0}));
  EXPECT_EQ(graph.node_count(), 3u);
  EXPECT_EQ(graph.arc_count(), 4u);
  EXPECT_EQ(graph.first_out(NodeId(0)), ArcId(0));
  EXPECT_EQ(graph.last_out(NodeId(0)), ArcId(3));
  EXPECT_EQ(graph.in(NodeId(1)).size(), 2u);
  EXPECT_EQ(graph.head(graph.in(NodeId(0)).front()), NodeId(0));
}

TEST(Digraph, MayBeEmpty) {
  EXPECT_EQ(Digraph().node_count(), 0u);
  EXPECT_EQ(Digraph(2, {}).arc_count(), 0u);
}

TEST(DigraphDeathTest, RefusesSelfLoopsAndNodesBeyond) {
  const std::vector<Arc> loop = {{NodeId(0), NodeId(0)}};
  EXPECT_EXIT(Digraph(1, loop), testing::KilledBySignal(SIGABRT), "self-loop");
  const std::vector<Arc> beyond = {{NodeId(0), NodeId(5)}};
  EXPECT_EXIT(Digraph(2, beyond), testing::KilledBySignal(SIGABRT), "out of range");
}

}  // namespace
}  // namespace forestcoll
