#include "solver/height.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "forestcoll/pack.hpp"
#include "support/fabrics.hpp"

namespace forestcoll {
namespace {

// Four ranks, each linked to each: segment r ends at rank r.
RouteTable complete_of_four() {
  RouteTable table({NodeId(0), NodeId(1), NodeId(2), NodeId(3)});
  for (int r = 0; r < 4; ++r) {
    const std::vector<NodeId> to = {NodeId(r)};
    table.add_segment(to);
  }
  return table;
}

Route edge(int from, int to) {
  return {PrefixId(from), SegmentId(to)};
}

TEST(LowerHeights, ExchangesTheEdgesIntoANode) {
  const RouteTable table = complete_of_four();
  // 0 → 1 → 2 → 3 and 1 → 0 → 3, 1 → 2: node 3 changes places.
  std::vector<Forest::Tree> trees = {{Rank(0), 1, 3}, {Rank(1), 1, 2}};
  std::vector<Route> routes = {Route{},    edge(0, 1), edge(1, 2), edge(2, 3),
                               edge(1, 0), Route{},    edge(1, 2), edge(0, 3)};
  solver::lower_heights(table, trees, routes, 4, 1000);
  EXPECT_EQ(trees[0].height, 2);
  EXPECT_EQ(trees[1].height, 2);
  EXPECT_EQ(routes[3], edge(0, 3));
  EXPECT_EQ(routes[7], edge(2, 3));
}

TEST(LowerHeights, LeavesUnequalMultiplicitiesAndSpentEffortAlone) {
  const RouteTable table = complete_of_four();
  for (const auto& [multiplicity, effort] : {std::pair(2, 1000), std::pair(1, 0)}) {
    std::vector<Forest::Tree> trees = {{Rank(0), 1, 3}, {Rank(1), multiplicity, 2}};
    std::vector<Route> routes = {Route{},    edge(0, 1), edge(1, 2), edge(2, 3),
                                 edge(1, 0), Route{},    edge(1, 2), edge(0, 3)};
    const auto before = routes;
    solver::lower_heights(table, trees, routes, 4, effort);
    EXPECT_EQ(routes, before);
    EXPECT_EQ(trees[0].height, 3);
  }
}

TEST(LowerHeights, KeepsEveryLoad) {
  const RouteTable table = complete_of_four();
  std::vector<Forest::Tree> trees = {{Rank(0), 1, 3}, {Rank(1), 1, 3}, {Rank(2), 1, 3}};
  std::vector<Route> routes = {Route{},    edge(0, 1), edge(1, 2), edge(2, 3),
                               edge(3, 0), Route{},    edge(1, 2), edge(2, 3),
                               edge(3, 0), edge(0, 1), Route{},    edge(2, 3)};
  const auto loads = [](const std::vector<Route>& all) {
    std::map<std::pair<PrefixId, SegmentId>, int> load;
    for (const Route route : all) {
      if (route.valid()) ++load[{route.prefix, route.last}];
    }
    return load;
  };
  const auto before = loads(routes);
  solver::lower_heights(table, trees, routes, 4, 1000);
  EXPECT_EQ(loads(routes), before);
}

TEST(HeightLowerBound, IsTheDistanceInHops) {
  const auto least = [](const Network& network) {
    return height_lower_bound(network, uniform_weights(network));
  };
  EXPECT_EQ(least(test::dgx_a100(1)), 1);
  // Odd and even NICs are on two switches.
  EXPECT_EQ(least(test::dgx_a100(16)), 2);
  EXPECT_EQ(least(test::fat_tree(8)), 1);
  EXPECT_EQ(least(test::torus({8, 8})), 8);
  EXPECT_EQ(least(test::torus({5, 4, 3})), 5);
  EXPECT_EQ(least(test::hypercube(7)), 7);
  const Network line = [] {
    test::FabricBuilder builder(5);
    for (std::size_t v = 0; v < 4; ++v) builder.link(v, v + 1, 1);
    return builder.build();
  }();
  EXPECT_EQ(least(line), 4);
  EXPECT_EQ(height_lower_bound(line, single_root(line, Rank(2))), 2);
}

TEST(HeightLowerBound, NoForestIsLower) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Network network = test::random_fabric(seed, {.one_way = seed % 2 == 0});
    const Weights weights = uniform_weights(network);
    const Rate rate = optimal_rate(network, weights);
    const auto packing = pack(network, weights, scale_to_optimum(network, rate));
    EXPECT_GE(packing->forest.max_height(), height_lower_bound(network, weights));
  }
}

TEST(LowerHeights, TreesOnSmallFabricsAreLow) {
  // Regressions: what the exchanges reach today must not be lost.
  const auto height = [](const Network& network) {
    const Weights weights = uniform_weights(network);
    const Rate rate = optimal_rate(network, weights);
    return pack(network, weights, scale_to_optimum(network, rate))->forest.max_height();
  };
  EXPECT_LE(height(test::torus({4, 4})), 6);
  EXPECT_LE(height(test::torus({8, 8})), 16);
  EXPECT_LE(height(test::dragonfly(4, 2, 2)), 2);
  EXPECT_LE(height(test::jellyfish(16, 4, 5, 1)), 4);
}

}  // namespace
}  // namespace forestcoll
