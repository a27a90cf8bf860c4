// Trees that branch at switches, packed: judged by `verify`, which knows nothing of the solver, and
// on small fabrics by a program over all trees that there are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "forestcoll/allreduce.hpp"
#include "forestcoll/emit.hpp"
#include "forestcoll/verify.hpp"
#include "in_network_fabrics.hpp"
#include "in_network_oracle.hpp"
#include "support/topology_of.hpp"

namespace forestcoll::testing {
namespace {

// What the trees reach that are packed for the optimum, as `verify` finds it.
Ratio packed(const Network& network, const SwitchRoles& roles, const AllreduceOptimum& optimum,
             const std::string& what, const BranchingOptions& options = {}) {
  const auto forest = pack_branching(network, roles, optimum, options);
  if (!forest) {
    ADD_FAILURE() << what << ": " << to_string(forest.errors().front());
    return 0;
  }
  const Topology topology = test::topology_of(network, roles);
  const auto verdict = verify(to_forest_json(*forest, topology), what, &topology, {});
  if (!verdict || !verdict->ok) {
    ADD_FAILURE() << what << ": "
                  << to_string(verdict ? verdict->findings.front() : verdict.errors().front());
    return 0;
  }
  EXPECT_EQ(verdict->chunks, forest->chunks) << what;
  EXPECT_EQ(verdict->algbw, forest->algbw) << what;
  return forest->algbw;
}

Ratio packed_optimum(const Network& network, const SwitchRoles& roles, const std::string& what) {
  const auto optimum = allreduce_optimum(network, roles);
  if (!optimum || !optimum->split) {
    ADD_FAILURE() << what;
    return 0;
  }
  const Ratio reached = packed(network, roles, *optimum, what);
  EXPECT_EQ(reached, optimum->split->algbw) << what;
  return reached;
}

TEST(Branching, KnownAnswersOfH100BoxesArePacked) {
  struct Known {
    std::size_t boxes;
    Ratio echoing, silent, with_rails;
  };
  for (const Known& known : std::vector<Known>{{1, 400, 450, 0},
                                               {2, 400, 400, 400},
                                               {3, 300, 300, 400},
                                               {4, {800, 3}, {800, 3}, 400}}) {
    const Cluster cluster = h100(known.boxes);
    const std::string what = std::to_string(known.boxes) + " boxes";
    EXPECT_EQ(packed_optimum(cluster.network, cluster.roles(kEchoing, {}), what), known.echoing);
    EXPECT_EQ(packed_optimum(cluster.network, cluster.roles(kSharp, {}), what), known.silent);
    if (known.boxes == 1) continue;
    EXPECT_EQ(packed_optimum(cluster.network, cluster.roles(kEchoing, kSharp), what),
              known.with_rails);
  }
}

TEST(Branching, ARackIsPacked) {
  const Cluster rack = h100(1, 72, 900);
  EXPECT_EQ(packed_optimum(rack.network, rack.roles(kEchoing, {}), "echo"), Ratio(900 * 72, 73));
  EXPECT_EQ(packed_optimum(rack.network, rack.roles(kSharp, {}), "silent"), Ratio(900));
}

// Shares without a simple common denominator are refused in words, where no number of trees is
// given: the optimum stands, as a figure.
bool are_too_long(const Network& network, const SwitchRoles& roles,
                  const AllreduceOptimum& optimum) {
  const auto forest = pack_branching(network, roles, optimum);
  return !forest && forest.errors().front().code == Code::E14;
}

// What the linear program says is reached by trees; what is less than the bound is said to be.
TEST(BranchingLong, RandomFabricsReachWhatTheProgramSays) {
  int branching = 0, exact = 0, too_long = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const Network network =
        test::random_fabric(seed, {.max_compute = seed % 2 == 0 ? std::size_t{4} : std::size_t{8},
                                   .max_switches = seed % 2 == 0 ? std::size_t{2} : std::size_t{4},
                                   .one_way = seed % 5 == 0});
    const SwitchRoles roles = random_roles(network, seed);
    const auto optimum = allreduce_optimum(network, roles);
    ASSERT_TRUE(optimum && optimum->split) << "seed " << seed;
    if (are_too_long(network, roles, *optimum)) {
      ++too_long;
      const auto chunks = 4096 * static_cast<std::int64_t>(network.ranks.size());
      const Ratio near =
          packed(network, roles, *optimum, "seed " + std::to_string(seed), {.chunks = chunks});
      EXPECT_LE(near, optimum->split->algbw) << "seed " << seed;
      const double gap = 1 - near.to_double() / optimum->split->algbw.to_double();
      EXPECT_LT(gap, 1e-4) << "seed " << seed;
      continue;
    }
    const Ratio reached = packed(network, roles, *optimum, "seed " + std::to_string(seed));
    EXPECT_EQ(reached, optimum->split->algbw) << "seed " << seed;
    EXPECT_EQ(optimum->is_exact(), reached == optimum->upper) << "seed " << seed;
    exact += optimum->is_exact();
    for (const AllreduceTrees& trees : optimum->split->broadcast) {
      branching += trees.switches.empty() ? 0 : 1;
    }
  }
  EXPECT_LT(too_long, 10);
  EXPECT_GT(exact, 480);
  EXPECT_GT(branching, 60);
}

// As many trees as are asked for, at the highest rate that the rounding of shares leaves.
TEST(Branching, GivenNumbersOfChunksAreCarried) {
  for (const std::size_t boxes : {1, 2, 3}) {
    const Cluster cluster = h100(boxes);
    for (const SwitchRole rails : {SwitchRole(), kSharp}) {
      const SwitchRoles roles = cluster.roles(kEchoing, rails);
      const auto optimum = allreduce_optimum(cluster.network, roles);
      ASSERT_TRUE(optimum && optimum->split);
      Ratio best = 0;
      for (const std::int64_t chunks : {1, 7, 8, 24, 48}) {
        const std::string what = std::to_string(boxes) + " boxes, " + std::to_string(chunks);
        const Ratio reached = packed(cluster.network, roles, *optimum, what, {.chunks = chunks});
        EXPECT_GT(reached, Ratio(0)) << what;
        EXPECT_LE(reached, optimum->split->algbw) << what;
        best = std::max(best, reached);
      }
      EXPECT_EQ(best, optimum->split->algbw) << boxes;
    }
  }
}

TEST(Branching, TreesAreNoHigherThanAskedFor) {
  const Cluster cluster = h100(3);
  const SwitchRoles roles = cluster.roles(kEchoing, {});
  const auto optimum = allreduce_optimum(cluster.network, roles);
  ASSERT_TRUE(optimum && optimum->split);
  for (const std::int32_t most : {2, 3, 4}) {
    const auto forest =
        pack_branching(cluster.network, roles, *optimum, {.chunks = 24, .max_height = most});
    if (!forest) {
      EXPECT_EQ(forest.errors().front().code, Code::E16) << most;
      continue;
    }
    EXPECT_GE(most, 3);
    for (const auto* phase : {&forest->reduce, &forest->broadcast}) {
      for (const BranchingTrees& trees : *phase) EXPECT_LE(trees.forest.max_height(), most);
    }
    EXPECT_GT(forest->algbw, Ratio(0));
  }
}

// What is between what trees reach and the bound is no gap of the search: no trees are there.
TEST(Branching, WhereTheBoundIsOutOfReachTreesAreAtTheirBest) {
  const Cluster racks = h100(2, 72, 900);
  const auto sharp = allreduce_optimum(racks.network, racks.roles(kEchoing, kSharp));
  ASSERT_TRUE(sharp && sharp->split);
  EXPECT_EQ(sharp->split->algbw, Ratio(972000, 1051));
  EXPECT_EQ(sharp->upper, Ratio(145200, 157));
  ASSERT_TRUE(sharp->of_trees);
  EXPECT_GE(*sharp->of_trees, sharp->split->algbw);
  EXPECT_LT(sharp->of_trees->to_double(), sharp->split->algbw.to_double() * (1 + 1e-6));
}

TEST(BranchingLong, NoTreesOfSmallFabricsReachMore) {
  int fabrics = 0;
  for (std::uint64_t seed = 2000; seed < 2060; ++seed) {
    const Network network = test::random_fabric(seed, {.max_compute = 4, .max_switches = 2});
    const SwitchRoles roles = random_roles(network, seed);
    const auto best = best_by_all_trees(network, roles);
    const auto optimum = allreduce_optimum(network, roles);
    ASSERT_TRUE(optimum && optimum->split) << "seed " << seed;
    if (!best || are_too_long(network, roles, *optimum)) continue;
    ++fabrics;
    const Ratio reached = packed(network, roles, *optimum, "seed " + std::to_string(seed));
    EXPECT_NEAR((reached / network.unit).to_double(), *best, *best * 1e-7) << "seed " << seed;
  }
  EXPECT_GT(fabrics, 55);
}

// A switch that others of the class branch at is no part of a tree that passes nothing on there.
TEST(BranchingLong, NoTreeEndsAtASwitch) {
  int branching = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const Network network =
        test::random_fabric(seed, {.max_compute = 6, .max_switches = 3, .one_way = seed % 2 == 0});
    const SwitchRoles roles = random_roles(network, seed);
    const auto optimum = allreduce_optimum(network, roles);
    if (!optimum || !optimum->split) continue;
    const auto forest = pack_branching(network, roles, *optimum, {.chunks = 8});
    ASSERT_TRUE(forest) << seed;
    for (const auto* phase : {&forest->reduce, &forest->broadcast}) {
      for (const BranchingTrees& trees : *phase) {
        for (std::size_t t = 0; t < trees.forest.tree_count(); ++t) {
          std::vector<int> below(trees.forest.rank_count(), 0);
          const Rank root = trees.forest.tree(TreeId(t)).root;
          for (std::size_t v = 0; v < below.size(); ++v) {
            if (Rank(v) != root) ++below[trees.forest.parent(TreeId(t), Rank(v)).index()];
          }
          for (std::size_t v = network.ranks.size(); v < below.size(); ++v) {
            ++branching;
            EXPECT_GT(below[v], 0) << "seed " << seed;
          }
        }
      }
    }
  }
  EXPECT_GT(branching, 100);
}

}  // namespace
}  // namespace forestcoll::testing
