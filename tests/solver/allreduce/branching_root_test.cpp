// Broadcasts and reductions that branch at switches: as fast as any, with fewer messages in turn.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <random>
#include <string>

#include "forestcoll/allreduce.hpp"
#include "forestcoll/emit.hpp"
#include "forestcoll/synthesize.hpp"
#include "forestcoll/verify.hpp"
#include "in_network_fabrics.hpp"
#include "in_network_oracle.hpp"
#include "support/topology_of.hpp"

namespace forestcoll::testing {
namespace {

std::optional<BranchingForest> made_from(Rank root, const Network& network,
                                         const SwitchRoles& roles, Collective collective) {
  const auto optimum = phase_optimum(network, roles, collective, root);
  EXPECT_TRUE(optimum);
  return branching_from_root(network, roles, collective, root, *optimum);
}

// Accepted by the checker, at the optimum of the collective.
void expect_right(const BranchingForest& forest, const Network& network, const SwitchRoles& roles,
                  const std::string& what) {
  const auto best = bound(network, forest.collective, forest.root);
  ASSERT_TRUE(best) << what;
  EXPECT_EQ(forest.algbw, best->algbw) << what;
  const Topology topology = test::topology_of(network, roles);
  const auto verdict = verify(to_forest_json(forest, topology), what, &topology, {});
  ASSERT_TRUE(verdict) << what << ": " << to_string(verdict.errors().front());
  EXPECT_TRUE(verdict->ok) << what << ": " << to_string(verdict->findings.front());
  EXPECT_EQ(verdict->algbw, best->algbw) << what;
  EXPECT_EQ(verdict->collective, forest.collective) << what;
}

TEST(BranchingFromRoot, OneCopyServesABox) {
  const Cluster box = h100(1);
  for (const SwitchRole role : {kEchoing, kSharp}) {
    const SwitchRoles roles = box.roles(role, {});
    for (const Collective collective : {Collective::broadcast, Collective::reduce}) {
      const auto forest = made_from(Rank(3), box.network, roles, collective);
      ASSERT_TRUE(forest);
      expect_right(*forest, box.network, roles, std::string(to_string(collective)));
      EXPECT_EQ(forest->algbw, Ratio(450));
      EXPECT_EQ(forest->chunks, 1);
      EXPECT_EQ(messages_in_turn(*forest), 1);
    }
  }
}

// A switch that copies can do nothing for a reduce, and one that combines nothing for a broadcast.
TEST(BranchingFromRoot, EveryCollectiveTakesItsOwnAbility) {
  const Cluster box = h100(1);
  const SwitchRoles copying = box.roles({.copies = true}, {});
  const SwitchRoles combining = box.roles({.combines = true}, {});
  const auto made = [&](const SwitchRoles& roles, Collective collective) {
    return has_able_switches(roles, collective) &&
           made_from(Rank(0), box.network, roles, collective).has_value();
  };
  EXPECT_TRUE(made(copying, Collective::broadcast));
  EXPECT_FALSE(made(copying, Collective::reduce));
  EXPECT_FALSE(made(combining, Collective::broadcast));
  EXPECT_TRUE(made(combining, Collective::reduce));
  EXPECT_FALSE(made(box.roles({}, {}), Collective::broadcast));
}

TEST(BranchingFromRoot, BoxesPassOnOnceAndCopy) {
  for (const std::size_t boxes : {2, 3}) {
    const Cluster cluster = h100(boxes, 4);
    for (const SwitchRole rails : {SwitchRole(), kSharp}) {
      const SwitchRoles roles = cluster.roles(kEchoing, rails);
      const auto forest = made_from(Rank(0), cluster.network, roles, Collective::broadcast);
      ASSERT_TRUE(forest) << boxes;
      expect_right(*forest, cluster.network, roles, std::to_string(boxes) + " boxes");
      EXPECT_LE(messages_in_turn(*forest), static_cast<std::int32_t>(boxes) + 2);
    }
  }
}

TEST(BranchingFromRoot, RandomFabricsLoseNoRate) {
  int made = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Network network = test::random_fabric(seed, {.max_compute = 6, .max_switches = 3});
    const SwitchRoles roles = random_roles(network, seed);
    const Collective collective = seed % 2 == 0 ? Collective::broadcast : Collective::reduce;
    const Rank root(seed % network.ranks.size());
    if (!has_able_switches(roles, collective)) continue;
    const auto forest = made_from(root, network, roles, collective);
    if (!forest) continue;
    ++made;
    expect_right(*forest, network, roles, "seed " + std::to_string(seed));
  }
  EXPECT_GT(made, 20);
}

// A switch that gives out more than it takes in: only copies use it all.
TEST(BranchingFromRoot, CopiesGainRateWhereASwitchGivesOutMore) {
  test::FabricBuilder fabric(4);
  const std::size_t w = fabric.add_switch();
  fabric.arc(0, w, 10);
  for (const std::size_t gpu : {1, 2, 3}) {
    fabric.arc(w, gpu, 10);
    fabric.link(0, gpu, 1);
  }
  const Network network = fabric.build();
  SwitchRoles roles(network.graph.node_count());
  roles[NodeId(w)].copies = true;
  const auto optimum = phase_optimum(network, roles, Collective::broadcast, Rank(0));
  ASSERT_TRUE(optimum);
  EXPECT_EQ(optimum->upper, network.unit * Ratio(11));
  EXPECT_EQ(optimum->reached(), optimum->upper);
  const auto forest = branching_from_root(network, roles, Collective::broadcast, Rank(0), *optimum);
  ASSERT_TRUE(forest);
  EXPECT_EQ(forest->algbw, optimum->upper);
}

// A ring of narrow links, and switches that few GPUs lead to and that lead to most.
Network spreading(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::size_t gpus = 3 + random() % 2, switches = 1 + random() % 2;
  test::FabricBuilder fabric(gpus, switches);
  const auto up_to = [&](std::uint64_t most) { return static_cast<Capacity>(1 + random() % most); };
  for (std::size_t i = 0; i < gpus; ++i) fabric.link(i, (i + 1) % gpus, up_to(2));
  for (std::size_t w = gpus; w < gpus + switches; ++w) {
    fabric.arc(random() % gpus, w, up_to(8));
    for (std::size_t i = 0; i < gpus; ++i) {
      if (random() % 4 != 0) fabric.arc(w, i, up_to(8));
    }
  }
  return fabric.build();
}

// By all trees, in a linear program with a column for each.
TEST(BranchingFromRootLong, NoTreesAreFasterOnUnbalancedFabrics) {
  int compared = 0, gained = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const Collective collective = seed % 4 < 2 ? Collective::broadcast : Collective::reduce;
    const bool is_reduce = collective == Collective::reduce;
    const Network drawn =
        seed % 2 == 0
            ? spreading(seed)
            : test::random_fabric(seed, {.max_compute = 4, .max_switches = 2, .unbalanced = true});
    const Network network = is_reduce ? reversed(drawn) : drawn;
    const SwitchRoles roles = random_roles(network, seed);
    const Rank root(seed % network.ranks.size());
    if (!has_able_switches(roles, collective)) continue;
    const auto best = best_by_all_trees(network, roles, collective, root);
    if (!best) continue;
    ++compared;
    const auto optimum = phase_optimum(network, roles, collective, root);
    ASSERT_TRUE(optimum && optimum->reached()) << seed;
    const double unit = network.unit.to_double();
    EXPECT_NEAR(optimum->reached()->to_double(), *best * unit, 1e-6 * *best * unit) << seed;
    EXPECT_GE(optimum->upper, *optimum->reached()) << seed;
    const auto forest = branching_from_root(network, roles, collective, root, *optimum);
    ASSERT_TRUE(forest) << seed;
    EXPECT_GE(forest->algbw, *optimum->reached()) << seed;
    const Topology topology = test::topology_of(network, roles);
    const auto verdict = verify(to_forest_json(*forest, topology), "forest", &topology, {});
    ASSERT_TRUE(verdict && verdict->ok) << seed;
    EXPECT_EQ(verdict->algbw, forest->algbw) << seed;
    gained += bound(network, collective, root)->algbw < forest->algbw ? 1 : 0;
  }
  EXPECT_GT(compared, 150);
  EXPECT_GT(gained, 5);
}

}  // namespace
}  // namespace forestcoll::testing
