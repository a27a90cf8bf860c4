// What takes no time is left out of a plan's operations, and nobody begins at another time.
#include "simulate/sources/plan_operations.hpp"

#include <gtest/gtest.h>

namespace forestcoll::simulate {
namespace {

using Edge = PlanOperations::Edge;

// Data is what is named.
PlanOperations of(std::size_t nodes, const std::vector<std::size_t>& data,
                  std::vector<Edge> edges) {
  PlanOperations result;
  result.nodes.resize(nodes);
  for (const std::size_t n : data) result.nodes[n].moves = true;
  result.edges = std::move(edges);
  return result;
}

TEST(WithoutControl, WaitsForWhatWasWaitedFor) {
  const auto less = without_control(of(
      4, {0, 3}, {{.from = 0, .to = 1}, {.from = 1, .to = 2, .route = 7}, {.from = 2, .to = 3}}));
  ASSERT_EQ(less.nodes.size(), 2U);
  ASSERT_EQ(less.edges.size(), 1U);
  EXPECT_EQ(less.edges[0].from, 0);
  EXPECT_EQ(less.edges[0].to, 1);
  EXPECT_EQ(less.edges[0].route, 7);
  EXPECT_FALSE(less.edges[0].next_round);
}

TEST(WithoutControl, ComesBackARoundLater) {
  const auto less = without_control(of(4, {0, 2},
                                       {{.from = 0, .to = 1},
                                        {.from = 1, .to = 2},
                                        {.from = 2, .to = 3},
                                        {.from = 3, .to = 0, .next_round = true}}));
  ASSERT_EQ(less.nodes.size(), 2U);
  ASSERT_EQ(less.edges.size(), 2U);
  EXPECT_FALSE(less.edges[0].next_round);
  EXPECT_EQ(less.edges[1].from, 1);
  EXPECT_EQ(less.edges[1].to, 0);
  EXPECT_TRUE(less.edges[1].next_round);
}

TEST(WithoutControl, KeepsWhatTellsTwoTimesApart) {
  // Two messages, one after the other.
  EXPECT_EQ(without_control(
                of(3, {0, 2}, {{.from = 0, .to = 1, .route = 1}, {.from = 1, .to = 2, .route = 2}}))
                .nodes.size(),
            3U);
  // All rounds of one before the other.
  EXPECT_EQ(without_control(
                of(3, {0, 2}, {{.from = 0, .to = 1}, {.from = 1, .to = 2, .all_rounds = true}}))
                .nodes.size(),
            3U);
  // A message on the way to the end.
  EXPECT_EQ(without_control(of(2, {0}, {{.from = 0, .to = 1, .route = 1}})).nodes.size(), 2U);
  // Its own next round, after a message.
  EXPECT_EQ(
      without_control(
          of(2, {0}, {{.from = 0, .to = 1, .route = 1}, {.from = 1, .to = 0, .next_round = true}}))
          .nodes.size(),
      2U);
}

TEST(WithoutControl, AddsNoEdges) {
  std::vector<Edge> edges;
  for (std::int32_t i = 0; i < 3; ++i) edges.push_back({.from = i, .to = 3});
  for (std::int32_t i = 4; i < 7; ++i) edges.push_back({.from = 3, .to = i});
  const auto less = without_control(of(7, {0, 1, 2, 4, 5, 6}, edges));
  EXPECT_EQ(less.nodes.size(), 7U);
  EXPECT_EQ(less.edges.size(), 6U);
}

}  // namespace
}  // namespace forestcoll::simulate
