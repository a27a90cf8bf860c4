// Broadcasts and reductions that branch at switches: as fast as any, with fewer messages in turn.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "forestcoll/allreduce.hpp"
#include "forestcoll/emit.hpp"
#include "forestcoll/synthesize.hpp"
#include "forestcoll/verify.hpp"
#include "in_network_fabrics.hpp"
#include "support/topology_of.hpp"

namespace forestcoll::testing {
namespace {

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
      const auto forest = branching_from_root(box.network, roles, collective, Rank(3));
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
    return branching_from_root(box.network, roles, collective, Rank(0)).has_value();
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
      const auto forest =
          branching_from_root(cluster.network, roles, Collective::broadcast, Rank(0));
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
    const auto forest = branching_from_root(network, roles, collective, root);
    if (!forest) continue;
    ++made;
    expect_right(*forest, network, roles, "seed " + std::to_string(seed));
  }
  EXPECT_GT(made, 20);
}

}  // namespace
}  // namespace forestcoll::testing
