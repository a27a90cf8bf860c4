#include "solver/height/height.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string_view>
#include <thread>
#include <vector>

#include "forestcoll/pack.hpp"
#include "solver/height/height_testing.hpp"
#include "solver/symmetry/orbits.hpp"
#include "support/fabrics.hpp"
#include "support/oracles.hpp"

namespace forestcoll {
namespace {

using test::complete_fabric;
using test::random_rows;
using test::Rows;

void lower(Rows& rows, std::int32_t bound, Effort effort = Effort::normal) {
  lower_heights(rows.view(), rows.resources, solver::trivial_orbits(rows.core), {bound}, effort,
                {});
}

TEST(LowerHeights, ExchangesTheEdgesIntoANode) {
  Rows rows(complete_fabric(4));
  rows.add(1, {0, 0, 1, 2});  // 0 → 1 → 2 → 3
  rows.add(1, {1, 1, 1, 0});  // 1 → 0 → 3, 1 → 2: node 3 changes places
  rows.fit_capacities(0);
  lower(rows, 2);
  EXPECT_EQ(rows.flaw(), "");
  EXPECT_EQ(rows.trees[0].height, 2);
  EXPECT_EQ(rows.trees[1].height, 2);
}

// Chains one way round a ring are as low as they get: where higher trees are worth nothing, the
// first of three rounds shows that; at the greatest effort the second of five, whatever is asked.
TEST(LowerHeights, EndsWhereLuckWouldHaveToDoTooMuch) {
  const auto steps_for = [](std::int32_t most, Effort effort) {
    Rows rows(complete_fabric(9));
    for (std::size_t root = 0; root < 9; ++root) {
      std::vector<std::size_t> parent(9, root);
      for (std::size_t hop = 1; hop < 9; ++hop) parent[(root + hop) % 9] = (root + hop - 1) % 9;
      rows.add(4, parent);
    }
    rows.fit_capacities(0);
    int steps = 0;
    lower_heights(rows.view(), rows.resources, solver::trivial_orbits(rows.core),
                  {2, {.most = most}}, effort, {},
                  [&](std::string_view, std::optional<double> done) { steps += done ? 1 : 0; });
    EXPECT_EQ(rows.flaw(), "");
    EXPECT_EQ(rows.max_height(), 8);
    return steps;
  };
  EXPECT_EQ(steps_for(2, Effort::normal), 200);
  EXPECT_EQ(steps_for(7, Effort::normal), 200);
  EXPECT_EQ(steps_for(9, Effort::normal), 600);
  EXPECT_EQ(steps_for(2, Effort::max), 200);
  EXPECT_EQ(steps_for(9, Effort::max), 400);
}

TEST(LowerHeights, SplitsATreeOfLargerMultiplicity) {
  Rows rows(complete_fabric(4));
  rows.add(1, {0, 0, 1, 2});
  rows.add(3, {1, 1, 1, 0});
  rows.fit_capacities(0);
  lower(rows, 2);
  EXPECT_EQ(rows.flaw(), "");
  EXPECT_EQ(rows.max_height(), 2);
  EXPECT_EQ(rows.rooted(), (std::map<Rank, std::int64_t>{{Rank(0), 1}, {Rank(1), 3}}));
  EXPECT_EQ(rows.trees.size(), 3U);
}

TEST(LowerHeights, MovesToSpareCapacity) {
  Rows rows(complete_fabric(5));
  rows.add(2, {0, 0, 1, 2, 3});
  rows.fit_capacities(2);
  lower(rows, 1);
  EXPECT_EQ(rows.flaw(), "");
  EXPECT_EQ(rows.max_height(), 1);
}

TEST(LowerHeights, TreesThatAreLowEnoughStayAsTheyAre) {
  Rows rows(complete_fabric(4));
  rows.add(1, {0, 0, 1, 2});
  rows.fit_capacities(5);
  const auto before = rows.routes;
  lower(rows, 3);
  EXPECT_EQ(rows.routes, before);
}

TEST(LowerHeights, StopsWhereItIsAskedTo) {
  Rows rows(complete_fabric(4));
  rows.add(1, {0, 0, 1, 2});
  rows.fit_capacities(5);
  std::stop_source source;
  source.request_stop();
  lower_heights(rows.view(), rows.resources, solver::trivial_orbits(rows.core), {1}, Effort::normal,
                source.get_token());
  EXPECT_EQ(rows.flaw(), "");
  EXPECT_EQ(rows.max_height(), 3);
}

TEST(LowerHeights, ExchangesWholeGroups) {
  // Pairs of ranks joined by wide links. The two trees enter pairs 1 and 2 in an order that makes
  // one of them high, and no single node can change places: each would be its own ancestor.
  test::FabricBuilder builder(6);
  for (std::size_t v = 0; v < 6; v += 2) builder.link(v, v + 1, 100);
  for (std::size_t v = 0; v < 6; ++v) {
    for (std::size_t w = v / 2 * 2 + 2; w < 6; ++w) builder.link(v, w, 1);
  }
  Rows rows(builder.build());
  rows.add(1, {0, 0, 1, 2, 3, 4});  // 0 → 1 → 2 → 3 → 4 → 5
  rows.add(1, {0, 0, 3, 0, 5, 0});  // 0 → 1, 0 → 3 → 2, 0 → 5 → 4
  const solver::Core wide = rows.core;
  rows.fit_capacities(0);
  rows.core.capacity = wide.capacity;  // what makes groups
  rows.resources.residual.assign(rows.core.graph.arc_count(), 0);
  lower(rows, 3);
  EXPECT_EQ(rows.max_height(), 3);
  EXPECT_EQ(rows.height_of(0, 0), rows.trees[0].height);
  EXPECT_EQ(rows.height_of(1, 0), rows.trees[1].height);
}

TEST(LowerHeights, KeepsForestsWholeOnRandomFabrics) {
  int lowered = 0, split = 0;
  for (std::uint64_t seed = 0; seed < 800; ++seed) {
    Rows rows = random_rows(seed, seed % 4 > 1);
    const auto rooted = rows.rooted();
    const std::int32_t before = rows.max_height();
    const std::size_t trees = rows.trees.size();
    lower(rows, 1, Effort::fast);
    ASSERT_EQ(rows.flaw(), "") << "seed " << seed;
    ASSERT_EQ(rows.rooted(), rooted) << "seed " << seed;
    ASSERT_LE(rows.max_height(), before) << "seed " << seed;
    lowered += rows.max_height() < before;
    split += rows.trees.size() > trees;
  }
  EXPECT_GT(lowered, 150);
  EXPECT_GT(split, 40);
}

// The greatest effort looks farther; here it is stopped wherever it happens to be.
TEST(LowerHeights, KeepsForestsWholeWhereverItIsStopped) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    Rows rows = random_rows(seed, seed % 4 > 1);
    const auto rooted = rows.rooted();
    std::stop_source source;
    std::jthread timer([&](const std::stop_token&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5 + seed % 7));
      source.request_stop();
    });
    lower_heights(rows.view(), rows.resources, solver::trivial_orbits(rows.core), {1}, Effort::max,
                  source.get_token());
    ASSERT_EQ(rows.flaw(), "") << "seed " << seed;
    ASSERT_EQ(rows.rooted(), rooted) << "seed " << seed;
  }
}

TEST(LowerHeights, IsTheSameEachTime) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    Rows first = random_rows(seed, false), second = random_rows(seed, false);
    lower(first, 2);
    lower(second, 2);
    EXPECT_EQ(first.routes, second.routes);
  }
}

TEST(LowerHeights, ForestsReachTheirBoundOnNamedFabrics) {
  const auto height_over_bound = [](const Network& network) {
    const Weights weights = uniform_weights(network);
    const Scaling scaling = scale_to_optimum(network, optimal_rate(network, weights));
    const auto packing = pack(network, weights, scaling);
    EXPECT_EQ(test::find_forest_flaw(network, weights, packing->scaling, packing->forest), "");
    return packing->forest.max_height() - height_lower_bound(network, weights, scaling);
  };
  EXPECT_EQ(height_over_bound(test::torus({4, 4})), 0);
  EXPECT_EQ(height_over_bound(test::torus({8, 8})), 0);
  EXPECT_EQ(height_over_bound(test::torus({5, 4, 3})), 0);
  EXPECT_EQ(height_over_bound(test::hypercube(6)), 0);
  EXPECT_EQ(height_over_bound(test::dgx_a100(16)), 0);
  EXPECT_EQ(height_over_bound(test::h100_rails(4, 2)), 0);
  EXPECT_EQ(height_over_bound(test::fat_tree(8)), 0);
  EXPECT_EQ(height_over_bound(test::dragonfly(4, 2, 2)), 0);
  EXPECT_EQ(height_over_bound(test::jellyfish(16, 4, 5, 1)), 0);
  EXPECT_EQ(height_over_bound(test::mi250(1)), 0);
}

// Fabrics all of whose capacity is used: trees can but exchange what they have, with images of
// others too.
TEST(LowerHeightsLong, TightForestsComeNearTheirBound) {
  for (const std::size_t boxes : {2U, 4U, 8U}) {
    const Network network = test::mi250(boxes);
    const Weights weights = uniform_weights(network);
    const Scaling scaling = scale_to_optimum(network, optimal_rate(network, weights));
    const auto packing = pack(network, weights, scaling);
    EXPECT_EQ(test::find_forest_flaw(network, weights, packing->scaling, packing->forest), "");
    EXPECT_LE(2 * packing->forest.max_height(), 3 * height_lower_bound(network, weights, scaling))
        << boxes << " boxes";
  }
}

}  // namespace
}  // namespace forestcoll
