#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "forest/route_table.hpp"
#include "forestcoll/pack.hpp"
#include "solver/height/edges/mend.hpp"
#include "solver/height/height_testing.hpp"
#include "solver/height/whole/by_rank.hpp"
#include "solver/height/whole/flat.hpp"
#include "solver/height/whole/shortest.hpp"
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

TEST(PackShortest, MakesFewTreesOfAnyMultiplicity) {
  // A ring of links that share no divisor: thousands of trees per root, of which only
  // those to the rank opposite come two ways.
  test::FabricBuilder ring(8);
  const std::int64_t capacity[] = {10'007, 10'009, 10'037, 10'039, 10'061, 10'067, 10'069, 10'079};
  for (std::size_t v = 0; v < 8; ++v) ring.link(v, (v + 1) % 8, capacity[v]);
  const Network network = ring.build();
  Rows rows = roots_of(network, 2859, network.capacity);
  ASSERT_TRUE(solver::pack_shortest(rows.view(), rows.resources, 1 << 10, {}));
  EXPECT_EQ(rows.flaw(), "");
  EXPECT_LE(rows.trees.size(), 16U);
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
  EXPECT_FALSE(solver::pack_shortest(large.view(), large.resources, 16 * 16 - 1, {}));
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
  for (std::size_t i = 0; i < rows.routes.size(); ++i) {
    if (!rows.routes[i].valid()) continue;
    const ArcId arc(rows.routes[i].last.value);
    used[direction(rows.core.graph.tail(arc), rows.core.graph.head(arc))] +=
        rows.trees[i / rows.ranks()].multiplicity;
  }
  for (const auto& [key, count] : used) EXPECT_EQ(count, 35);
  for (const auto& tree : rows.trees) EXPECT_EQ(tree.height, 6);
}

TEST(PackFlat, PacksStarsWhereThereIsRoom) {
  for (const Network& network : {test::fat_tree(4), test::dragonfly(4, 2, 2), test::dgx_a100(1)}) {
    Rows rows = at_the_optimum(network);
    ASSERT_TRUE(solver::pack_flat(rows.view(), rows.resources, 1, solver::Fit::within, {}));
    EXPECT_EQ(rows.flaw(), "");
    EXPECT_EQ(rows.max_height(), 1);
  }
}

TEST(PackFlat, PacksTwoLevelsOfGroups) {
  for (const Network& network :
       {test::jellyfish(16, 4, 5, 1), test::dgx_a100(16), test::h100_rails(16, 2)}) {
    Rows rows = at_the_optimum(network);
    ASSERT_FALSE(solver::pack_flat(rows.view(), rows.resources, 1, solver::Fit::within, {}));
    ASSERT_TRUE(solver::pack_flat(rows.view(), rows.resources, 2, solver::Fit::within, {}));
    EXPECT_EQ(rows.flaw(), "");
    EXPECT_EQ(rows.max_height(), 2);
  }
}

// Without switches there are no groups to enter; every walk to a root ends, as far from it as the
// farthest rank is.
TEST(PackFlat, IsBreadthFirstWhereTreesMayBeHigher) {
  const Network network = test::torus({4, 4});
  Rows flat = at_the_optimum(network);
  EXPECT_FALSE(solver::pack_flat(flat.view(), flat.resources, 2, solver::Fit::perhaps, {}));
  Rows rows = at_the_optimum(network);
  ASSERT_TRUE(solver::pack_flat(rows.view(), rows.resources, 2, solver::Fit::at_any_height, {}));
  const std::int32_t least = height_lower_bound(network, uniform_weights(network));
  ASSERT_EQ(rows.trees.size(), network.ranks.size());
  for (std::size_t t = 0; t < rows.trees.size(); ++t) {
    EXPECT_EQ(rows.height_of(t, rows.trees[t].root.index()), least);
    EXPECT_EQ(rows.trees[t].height, least);
  }
  const IdVector<ArcId, Capacity> left = rows.resources.residual;
  rows.take_loads();
  EXPECT_EQ(rows.resources.residual, left);
}

TEST(PackFlat, LeavesAllAsItWasWhereItCannot) {
  Rows rows = at_the_optimum(test::torus({4, 4}));
  for (const std::int32_t height : {1, 2}) {
    EXPECT_FALSE(solver::pack_flat(rows.view(), rows.resources, height, solver::Fit::within, {}));
    EXPECT_EQ(rows.resources.residual, rows.core.capacity);
    EXPECT_EQ(rows.trees.size(), 16U);
    EXPECT_TRUE(rows.routes.empty());
  }
}

TEST(PackByRank, PacksIrregularFabricsAtTheOptimum) {
  for (const auto& [network, most] :
       {std::pair(test::random_regular(128, 4, 1), 1), std::pair(test::random_regular(64, 8, 2), 1),
        std::pair(test::generalized_kautz(100, 3), 1), std::pair(test::generalized_kautz(80, 4), 1),
        std::pair(test::slim_fly(5), 1), std::pair(test::torus({6, 5}), 0)}) {
    const std::int32_t least = height_lower_bound(network, uniform_weights(network));
    Rows rows = at_the_optimum(network);
    solver::Budget budget(solver::Budget::kUnlimited, {});
    ASSERT_TRUE(
        solver::pack_by_rank(rows.view(), rows.resources, {least, least + 2}, 1 << 20, budget));
    EXPECT_EQ(rows.flaw(), "");
    EXPECT_LE(rows.max_height(), least + most);
  }
}

TEST(PackByRank, SplitsTreesWhereAPartMoves) {
  // A rank with links of 3 and 4 for 7 trees each.
  test::FabricBuilder builder(3);
  builder.link(0, 1, 7);
  builder.link(1, 2, 7);
  builder.link(0, 2, 7);
  const Network network = builder.build();
  Rows rows = roots_of(network, 7, IdVector<ArcId, Capacity>(network.graph.arc_count(), 7));
  solver::Budget budget(solver::Budget::kUnlimited, {});
  ASSERT_TRUE(solver::pack_by_rank(rows.view(), rows.resources, {1, 2}, 1 << 10, budget));
  EXPECT_EQ(rows.flaw(), "");

  IdVector<ArcId, Capacity> uneven(network.graph.arc_count(), 14);
  const auto arc = [&](std::size_t a, std::size_t b) {
    return network.graph.find(NodeId(a), NodeId(b));
  };
  uneven[arc(0, 2)] = 4;
  Rows split = roots_of(network, 7, uneven);
  EXPECT_FALSE(solver::pack_by_rank(split.view(), split.resources, {1, 1}, 1 << 10, budget));
  ASSERT_TRUE(solver::pack_by_rank(split.view(), split.resources, {1, 2}, 1 << 10, budget));
  EXPECT_EQ(split.flaw(), "");
  EXPECT_EQ(split.trees.size(), 4U);
}

TEST(PackByRank, LeavesAllAsItWasWhereItCannot) {
  solver::Budget budget(solver::Budget::kUnlimited, {}), spent(0, {});
  const Network torus = test::torus({4, 4});
  for (const auto& [network, height, edges, limit] :
       {std::tuple(torus, 3, 1 << 20, &budget), std::tuple(torus, 4, 255, &budget),
        std::tuple(test::random_regular(32, 4, 1), 9, 1 << 20, &spent),
        std::tuple(test::dgx_a100(1), 2, 1 << 20, &budget)}) {
    Rows rows = at_the_optimum(network);
    EXPECT_FALSE(solver::pack_by_rank(rows.view(), rows.resources, {height, height},
                                      static_cast<std::size_t>(edges), *limit));
    EXPECT_EQ(rows.resources.residual, rows.core.capacity);
    EXPECT_EQ(rows.trees.size(), network.ranks.size());
    EXPECT_TRUE(rows.routes.empty());
  }
}

// Flat trees, which ask too much of some links.
Rows flat_trees(const Network& network) {
  Rows rows = at_the_optimum(network);
  EXPECT_TRUE(solver::pack_flat(rows.view(), rows.resources, 2, solver::Fit::perhaps, {}));
  return rows;
}

bool is_overfull(const Rows& rows) {
  return std::any_of(rows.resources.residual.begin(), rows.resources.residual.end(),
                     [](Capacity left) { return left < 0; });
}

TEST(MendOverfull, LowersWhatAFlatForestAsksOfADamagedFabric) {
  // A NIC and a link to the NVSwitch at half.
  const Network a100 = test::dgx_a100(8);
  const auto switches = [](std::size_t i) { return NodeId(64 + i); };
  for (const Network& network :
       {test::derated(a100, NodeId(std::size_t{0}), switches(3), Ratio(1, 2)),
        test::derated(a100, NodeId(std::size_t{9}), switches(11), Ratio(1, 2))}) {
    Rows rows = flat_trees(network);
    ASSERT_TRUE(is_overfull(rows));
    solver::Budget budget(solver::Budget::kUnlimited, {});
    ASSERT_TRUE(solver::mend_overfull(rows.view(), rows.resources, 3, 1 << 12, 1, budget) ||
                solver::mend_overfull(rows.view(), rows.resources, 4, 1 << 12, 1, budget));
    EXPECT_EQ(rows.flaw(), "");
    EXPECT_LE(rows.max_height(), 4);
  }
}

TEST(MendOverfull, IsNotDoneWhereTheBudgetIsOver) {
  const Rows flat = flat_trees(test::h100_rails_alone(32, 3, 1));
  bool done = false;
  int given_up = 0;
  for (std::int64_t steps = 1; !done && steps < std::int64_t{1} << 30; steps *= 2) {
    Rows rows = flat;
    solver::Budget budget(steps, {});
    done = solver::mend_overfull(rows.view(), rows.resources, 4, 1 << 12, 1, budget);
    ASSERT_EQ(done, !is_overfull(rows)) << steps;
    given_up += done ? 0 : 1;
  }
  EXPECT_TRUE(done);
  EXPECT_GT(given_up, 1);
}

}  // namespace
}  // namespace forestcoll
