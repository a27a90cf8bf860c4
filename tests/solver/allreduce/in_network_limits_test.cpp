// Switches that copy and combine, where links share capacities: known answers, and every tree of
// small fabrics.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "forestcoll/allreduce.hpp"
#include "forestcoll/joint_bound.hpp"
#include "forestcoll/whole_collective.hpp"
#include "in_network_fabrics.hpp"
#include "in_network_oracle.hpp"
#include "support/fabrics.hpp"

namespace forestcoll::testing {
namespace {

ArcLimit limit_on(const std::vector<ArcId>& arcs, Capacity capacity) {
  ArcLimit limit{{}, capacity, {}};
  for (const ArcId arc : arcs) limit.uses.emplace_back(arc, 1);
  std::ranges::sort(limit.uses);
  return limit;
}

// GPUs on a switch by links of 450 GB/s, 600 in both directions together.
Cluster box_within_limits(std::size_t gpus) {
  Cluster box = h100(1, gpus, 450);
  Network& network = box.network;
  network.unit = 150;
  for (Capacity& capacity : network.capacity) capacity = 3;
  for (const NodeId v : network.ranks) {
    const ArcId out = network.graph.first_out(v);
    network.limits.push_back(limit_on({out, network.graph.find(network.graph.head(out), v)}, 4));
  }
  return box;
}

// One to three limits on some arcs each, with weights, some of which bind.
Network with_random_limits(Network network, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::size_t count = 1 + random() % 3; count > 0; --count) {
    ArcLimit limit;
    Capacity all = 0;
    for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
      if (random() % 3 != 0) continue;
      const auto weight = static_cast<std::int64_t>(1 + random() % 3);
      limit.uses.emplace_back(ArcId(a), weight);
      all += weight * network.capacity[ArcId(a)];
    }
    const bool is_known = std::ranges::any_of(
        network.limits, [&](const ArcLimit& other) { return other.uses == limit.uses; });
    if (limit.uses.empty() || is_known) continue;
    limit.capacity = std::max<Capacity>(1, all / static_cast<Capacity>(2 + random() % 3));
    network.limits.push_back(std::move(limit));
  }
  return network;
}

// Of n GPUs that send and receive `capacity` together, one byte each through a switch that copies
// and echoes costs each 1/n up and all of it down, and summing it as much the other way.
TEST(InNetworkLimits, ClosedFormsOfOneSwitch) {
  for (const std::int64_t n : {3, 8}) {
    const Cluster box = box_within_limits(static_cast<std::size_t>(n));
    const auto echoing = allreduce_optimum(box.network, box.roles(kEchoing, {}));
    ASSERT_TRUE(echoing && echoing->is_exact());
    EXPECT_EQ(echoing->upper, Ratio(600 * n, 2 * (n + 1)));
    const auto silent = allreduce_optimum(box.network, box.roles(kSharp, {}));
    ASSERT_TRUE(silent && silent->is_exact());
    EXPECT_EQ(silent->upper, Ratio(300));
    EXPECT_EQ(find_split_flaw(box.network, box.roles(kSharp, {}), *silent->split), "");
  }
}

// Eight GPUs, an allgather: of a part p that the switch copies a GPU receives all, and of the rest
// 7/8: (7 + p)/8 is at most 450, and with what it sends (14 - 5p)/8 at most 600.
TEST(InNetworkLimits, CopiesSpareTheWayIn) {
  const Cluster box = box_within_limits(8);
  const SwitchRoles roles = box.roles(kEchoing, {});
  for (const Collective phase : {Collective::allgather, Collective::reduce_scatter}) {
    const auto optimum = phase_optimum(box.network, roles, phase, {});
    ASSERT_TRUE(optimum);
    EXPECT_EQ(optimum->upper, Ratio(22800, 49));
    EXPECT_EQ(optimum->reached(), Ratio(22800, 49));
  }
}

// Without able switches it is another program for what the joint program says.
TEST(InNetworkLimitsLong, IsTheJointOptimumWithoutAbleSwitches) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const Network network = with_random_limits(
        test::random_fabric(seed, {.max_compute = 6, .max_switches = 3, .one_way = seed % 2 == 0}),
        seed);
    const auto joint =
        optimum_of_all(network, operation_of_all(network, Collective::allreduce, {}));
    const auto optimum = allreduce_optimum(network);
    ASSERT_TRUE(joint && optimum && optimum->split);
    EXPECT_EQ(optimum->upper, joint->at_most);
    EXPECT_EQ(optimum->split->algbw, joint->at_most);
    EXPECT_EQ(find_split_flaw(network, {}, *optimum->split), "");
  }
}

TEST(InNetworkLimitsLong, IsThatOfAllTreesOfSmallFabrics) {
  int fabrics = 0, exact = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    const Network network = with_random_limits(
        test::random_fabric(seed, {.max_compute = 4, .max_switches = 2, .one_way = seed % 3 == 0}),
        seed);
    const SwitchRoles roles = random_roles(network, seed);
    const auto best = best_by_all_trees(network, roles);
    if (!best) continue;
    const auto optimum = allreduce_optimum(network, roles);
    ASSERT_TRUE(optimum && optimum->split);
    EXPECT_EQ(find_split_flaw(network, roles, *optimum->split), "");
    const double reached = (optimum->split->algbw / network.unit).to_double();
    EXPECT_NEAR(reached, *best, 1e-7 * *best);
    EXPECT_GE((optimum->upper / network.unit).to_double(), *best * (1 - 1e-7));
    ++fabrics;
    exact += optimum->is_exact();
  }
  EXPECT_GT(fabrics, 140);
  EXPECT_GE(exact, fabrics - 5);
}

TEST(InNetworkLimitsLong, IsThatOfAllTreesOfOnePhase) {
  int fabrics = 0, reached = 0;
  for (std::uint64_t seed = 500; seed < 620; ++seed) {
    SCOPED_TRACE(seed);
    const Network network = with_random_limits(
        test::random_fabric(seed, {.max_compute = 4, .max_switches = 2, .one_way = seed % 3 == 0}),
        seed);
    const SwitchRoles roles = random_roles(network, seed);
    const std::vector<std::pair<Collective, std::optional<Rank>>> phases = {
        {Collective::allgather, {}},
        {Collective::reduce_scatter, {}},
        {Collective::broadcast, Rank(0)},
        {Collective::reduce, Rank(0)}};
    const auto& [collective, root] = phases[seed % phases.size()];
    const auto best = best_by_all_trees(network, roles, collective, root);
    if (!best) continue;
    const auto optimum = phase_optimum(network, roles, collective, root);
    ASSERT_TRUE(optimum);
    const double upper = (optimum->upper / network.unit).to_double();
    EXPECT_GE(upper, *best * (1 - 1e-7));
    ++fabrics;
    if (!optimum->reached()) continue;
    const double trees = (*optimum->reached() / network.unit).to_double();
    EXPECT_LE(trees, *best * (1 + 1e-7));
    reached += trees >= *best * (1 - 1e-7);
  }
  EXPECT_GT(fabrics, 110);
  EXPECT_GE(reached, fabrics - 3);
}

}  // namespace
}  // namespace forestcoll::testing
