#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "forestcoll/pack.hpp"
#include "solver/height/flat.hpp"
#include "solver/height/shortest.hpp"
#include "solver/height_testing.hpp"
#include "support/fabrics.hpp"

namespace forestcoll {
namespace {

using test::Rows;

// Roots and multiplicities alone.
Rows roots_of(const Network& network, std::int64_t k, const IdVector<ArcId, Capacity>& capacity) {
  Rows rows(network);
  rows.core = solver::make_core(network, capacity);
  rows.table = RouteTable(rows.core.compute);
  for (std::size_t a = 0; a < rows.core.graph.arc_count(); ++a) {
    rows.table.add_segment(rows.core.segment(ArcId(a)));
  }
  rows.resources = solver::plain_resources(rows.core.capacity);
  for (std::size_t r = 0; r < rows.ranks(); ++r) rows.trees.push_back({Rank(r), k, 0});
  return rows;
}

Rows at_the_optimum(const Network& network) {
  const Scaling scaling =
      scale_to_optimum(network, optimal_rate(network, uniform_weights(network)));
  return roots_of(network, scaling.k, scaling.capacity);
}

TEST(PackShortest, PacksToriAndHypercubesAtTheOptimum) {
  for (const auto& [network, height] :
       {std::pair(test::torus({4, 4}), 4), std::pair(test::torus({5, 4, 3}), 5),
        std::pair(test::torus({8, 8}), 8), std::pair(test::hypercube(5), 5)}) {
    Rows rows = at_the_optimum(network);
    ASSERT_TRUE(solver::pack_shortest(rows.view(), rows.resources, 1 << 20, {}));
    EXPECT_EQ(rows.flaw(), "");
    for (const auto& tree : rows.trees) EXPECT_EQ(tree.height, height);
  }
}

TEST(PackShortest, ReplacesAForest) {
  const Network network = test::torus({4, 4});
  Rows rows(network);
  // 0 → 1 → 2 → … → 15 row by row, there and back.
  std::vector<std::size_t> parent(16, 0);
  const std::vector<std::size_t> way = {0, 1, 2, 3, 7, 6, 5, 4, 8, 9, 10, 11, 15, 14, 13, 12};
  for (std::size_t i = 1; i < way.size(); ++i) parent[way[i]] = way[i - 1];
  rows.add(1, parent);
  rows.fit_capacities(1);
  ASSERT_EQ(rows.max_height(), 15);
  ASSERT_TRUE(solver::pack_shortest(rows.view(), rows.resources, 1 << 10, {}));
  EXPECT_EQ(rows.flaw(), "");
  EXPECT_EQ(rows.max_height(), 4);
}

TEST(PackShortest, LeavesAllAsItWasWhereItCannot) {
  // A ring with one link too few for a shortest tree from 0, and a fabric with a switch.
  test::FabricBuilder ring(4);
  for (std::size_t v = 0; v < 4; ++v) ring.link(v, (v + 1) % 4, 1);
  Rows rows(ring.build());
  rows.add(1, {0, 0, 1, 2});
  rows.fit_capacities(0);
  // All arcs of the core carry one more, but 0 → 3, which shortest trees need.
  rows.core.capacity.assign(rows.core.graph.arc_count(), 2);
  rows.core.capacity[ArcId(rows.edge(0, 3).last.value)] = 0;
  rows.take_loads();
  const auto before = rows.routes;
  EXPECT_FALSE(solver::pack_shortest(rows.view(), rows.resources, 1 << 10, {}));
  EXPECT_EQ(rows.routes, before);
  EXPECT_EQ(rows.flaw(), "");

  Rows switched = at_the_optimum(test::dgx_a100(1));
  EXPECT_FALSE(solver::pack_shortest(switched.view(), switched.resources, 1 << 10, {}));
  Rows large = at_the_optimum(test::torus({4, 4}));
  EXPECT_FALSE(solver::pack_shortest(large.view(), large.resources, 16 * 64 - 1, {}));
}

TEST(PackShortest, SharesOrbitsAmongBaseTrees) {
  // The torus moves every rank to every other: one root, four trees, and the arcs of one direction
  // are one resource, each of whose images carries what the base trees take from all of them.
  const Network network = test::torus({6, 6});
  Rows rows = at_the_optimum(network);
  rows.trees.resize(1);
  std::map<std::pair<std::int32_t, std::int32_t>, ArcId> first;
  const auto direction = [](NodeId from, NodeId to) {
    const auto mod = [](std::int32_t d) { return (d % 6 + 6) % 6; };
    return std::pair(mod(to.value % 6 - from.value % 6), mod(to.value / 6 - from.value / 6));
  };
  for (std::size_t a = 0; a < rows.core.graph.arc_count(); ++a) {
    const auto key = direction(rows.core.graph.tail(ArcId(a)), rows.core.graph.head(ArcId(a)));
    rows.resources.of[ArcId(a)] = first.try_emplace(key, ArcId(a)).first->second;
  }
  ASSERT_EQ(first.size(), 4U);
  ASSERT_TRUE(solver::pack_shortest(rows.view(), rows.resources, 1 << 10, {}));
  std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> used;
  for (const Route route : rows.routes) {
    if (!route.valid()) continue;
    const ArcId arc(route.last.value);
    ++used[direction(rows.core.graph.tail(arc), rows.core.graph.head(arc))];
  }
  for (const auto& [key, count] : used) EXPECT_EQ(count, 35);
  for (const auto& tree : rows.trees) EXPECT_EQ(tree.height, 6);
}

TEST(PackFlat, PacksStarsWhereThereIsRoom) {
  for (const Network& network : {test::fat_tree(4), test::dragonfly(4, 2, 2), test::dgx_a100(1)}) {
    Rows rows = at_the_optimum(network);
    ASSERT_TRUE(solver::pack_flat(rows.view(), rows.resources, 1, {}));
    EXPECT_EQ(rows.flaw(), "");
    EXPECT_EQ(rows.max_height(), 1);
  }
}

TEST(PackFlat, PacksTwoLevelsOfGroups) {
  for (const Network& network :
       {test::jellyfish(16, 4, 5, 1), test::dgx_a100(16), test::h100_rails(16, 2)}) {
    Rows rows = at_the_optimum(network);
    ASSERT_FALSE(solver::pack_flat(rows.view(), rows.resources, 1, {}));
    ASSERT_TRUE(solver::pack_flat(rows.view(), rows.resources, 2, {}));
    EXPECT_EQ(rows.flaw(), "");
    EXPECT_EQ(rows.max_height(), 2);
  }
}

TEST(PackFlat, LeavesAllAsItWasWhereItCannot) {
  Rows rows = at_the_optimum(test::torus({4, 4}));
  for (const std::int32_t height : {1, 2}) {
    EXPECT_FALSE(solver::pack_flat(rows.view(), rows.resources, height, {}));
    EXPECT_EQ(rows.resources.residual, rows.core.capacity);
    EXPECT_EQ(rows.trees.size(), 16U);
    EXPECT_TRUE(rows.routes.empty());
  }
}

}  // namespace
}  // namespace forestcoll
