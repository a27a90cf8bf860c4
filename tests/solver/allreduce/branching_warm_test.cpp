// Packing trees that branch at switches around previous ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "forestcoll/allreduce.hpp"
#include "forestcoll/emit.hpp"
#include "forestcoll/verify.hpp"
#include "in_network_fabrics.hpp"
#include "solver/portfolio/kept_trees.hpp"
#include "support/topology_of.hpp"

namespace forestcoll::testing {
namespace {

Expected<BranchingForest> best(const Network& network, const SwitchRoles& roles,
                               const BranchingForest* previous) {
  const auto optimum = allreduce_optimum(network, roles);
  if (!optimum) return optimum.errors();
  return pack_branching(network, roles, *optimum, {.previous = previous});
}

void expect_right(const Network& network, const SwitchRoles& roles, const BranchingForest& forest,
                  const std::string& what) {
  const Topology topology = test::topology_of(network, roles);
  const auto verdict = verify(to_forest_json(forest, topology), what, &topology, {});
  ASSERT_TRUE(verdict) << what;
  EXPECT_TRUE(verdict->ok) << what << ": " << to_string(verdict->findings.front());
  EXPECT_EQ(verdict->algbw, forest.algbw) << what;
}

TEST(BranchingWarm, NothingChangesWhereNothingFailed) {
  for (const SwitchRole rails : {SwitchRole(), kSharp}) {
    const Cluster cluster = h100(2);
    const SwitchRoles roles = cluster.roles(kEchoing, rails);
    const auto previous = best(cluster.network, roles, nullptr);
    ASSERT_TRUE(previous);
    const auto now = best(cluster.network, roles, &*previous);
    ASSERT_TRUE(now);
    const Topology topology = test::topology_of(cluster.network, roles);
    EXPECT_EQ(to_forest_json(*now, topology), to_forest_json(*previous, topology));
    const RepackStatistics kept = kept_trees(*previous, *now, cluster.network);
    EXPECT_EQ(kept.kept, kept.previous);
    EXPECT_EQ(kept.added, 0);
    EXPECT_EQ(kept.touched, 0);
    EXPECT_EQ(kept.kept_multiplicity, kept.total_multiplicity);
  }
}

// Whatever the previous trees are, what is packed around them is right and as fast as from scratch.
TEST(BranchingWarmLong, ForestsAroundPreviousOnesAreRight) {
  int kept = 0, packed = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    const Network network = test::random_fabric(seed, {.max_compute = 6, .max_switches = 3});
    const SwitchRoles roles = random_roles(network, seed);
    const auto previous = best(network, roles, nullptr);
    if (!previous) continue;  // shares without a common denominator
    Network weaker = network;
    const ArcId weak(seed % network.graph.arc_count());
    weaker.capacity[weak] = std::max<Capacity>(1, weaker.capacity[weak] / 2);
    const auto scratch = best(weaker, roles, nullptr);
    const auto now = best(weaker, roles, &*previous);
    ASSERT_EQ(scratch.has_value(), now.has_value()) << seed;
    if (!now) continue;
    ++packed;
    EXPECT_EQ(now->algbw, scratch->algbw) << seed;
    expect_right(weaker, roles, *now, "seed " + std::to_string(seed));
    const RepackStatistics left = kept_trees(*previous, *now, weaker);
    const RepackStatistics anew = kept_trees(*previous, *scratch, weaker);
    EXPECT_EQ(left.touched, 0) << seed;
    kept += left.kept > anew.kept ? 1 : left.kept < anew.kept ? -1 : 0;
  }
  EXPECT_GT(packed, 100);
  EXPECT_GT(kept, 5);
}

}  // namespace
}  // namespace forestcoll::testing
