// Allreduces through switches that copy and combine: known answers, and every tree of small
// fabrics.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "forestcoll/allreduce.hpp"
#include "forestcoll/generate.hpp"
#include "forestcoll/topology.hpp"
#include "forestcoll/topology_text.hpp"
#include "in_network_fabrics.hpp"
#include "in_network_oracle.hpp"
#include "support/fabrics.hpp"
#include "support/topology_of.hpp"

namespace forestcoll::testing {
namespace {

using test::FabricBuilder;

// The optimum, which must be known exactly, and be reached by trees that keep all rules.
Ratio exact_optimum(const Network& network, const SwitchRoles& roles) {
  const auto optimum = allreduce_optimum(network, roles);
  EXPECT_TRUE(optimum) << to_string(optimum.errors().front());
  EXPECT_TRUE(optimum->split.has_value());
  if (!optimum->split) return Ratio(0);
  EXPECT_EQ(optimum->split->algbw, optimum->upper);
  EXPECT_EQ(find_split_flaw(network, roles, *optimum->split), "");
  return optimum->split->algbw;
}

TEST(InNetwork, KnownAnswersOfH100Boxes) {
  struct Known {
    std::size_t boxes;
    Ratio without, echoing, silent, with_rails;
  };
  for (const Known& known : std::vector<Known>{{1, {1800, 7}, 400, 450, 0},
                                               {2, {800, 3}, 400, 400, 400},
                                               {3, {6000, 23}, 300, 300, 400},
                                               {4, {8000, 31}, {800, 3}, {800, 3}, 400}}) {
    const Cluster cluster = h100(known.boxes);
    EXPECT_EQ(exact_optimum(cluster.network, {}), known.without) << known.boxes;
    EXPECT_EQ(exact_optimum(cluster.network, cluster.roles(kEchoing, {})), known.echoing)
        << known.boxes;
    EXPECT_EQ(exact_optimum(cluster.network, cluster.roles(kSharp, {})), known.silent)
        << known.boxes;
    if (known.boxes == 1) continue;
    EXPECT_EQ(exact_optimum(cluster.network, cluster.roles(kEchoing, kSharp)), known.with_rails)
        << known.boxes;
  }
}

TEST(InNetwork, KnownAnswersOfARack) {
  const Cluster rack = h100(1, 72, 900);
  EXPECT_EQ(exact_optimum(rack.network, {}), Ratio(900 * 72, 2 * 71));
  EXPECT_EQ(exact_optimum(rack.network, rack.roles(kEchoing, {})), Ratio(900 * 72, 73));
  EXPECT_EQ(exact_optimum(rack.network, rack.roles(kSharp, {})), Ratio(900));
}

// C · N / (N + 1) where the switch echoes, C where it does not: what every GPU sends and receives.
TEST(InNetwork, ClosedFormsOfOneSwitch) {
  for (const std::int64_t n : {3, 5, 16}) {
    const Cluster box = h100(1, static_cast<std::size_t>(n), 7);
    EXPECT_EQ(exact_optimum(box.network, box.roles(kEchoing, {})), Ratio(7 * n, n + 1));
    EXPECT_EQ(exact_optimum(box.network, box.roles(kSharp, {})), Ratio(7));
  }
}

// How often the bound and the trees that were found meet, and the trees that there are.
struct Tally {
  int fabrics = 0, exact = 0, best = 0;
};

void expect_between(const Network& network, const SwitchRoles& roles, std::uint64_t seed,
                    Tally& tally) {
  const auto best = best_by_all_trees(network, roles);
  if (!best) return;
  const auto optimum = allreduce_optimum(network, roles);
  ASSERT_TRUE(optimum) << "seed " << seed;
  ASSERT_TRUE(optimum->split) << "seed " << seed;
  EXPECT_EQ(find_split_flaw(network, roles, *optimum->split), "") << "seed " << seed;
  const double reached = (optimum->split->algbw / network.unit).to_double();
  const double upper = (optimum->upper / network.unit).to_double();
  EXPECT_LE(reached, *best * (1 + 1e-7)) << "seed " << seed;
  EXPECT_GE(upper, *best * (1 - 1e-7)) << "seed " << seed;
  ++tally.fabrics;
  tally.exact += optimum->is_exact();
  tally.best += reached >= *best * (1 - 1e-7);
}

TEST(InNetworkLong, IsThatOfAllTreesOfSmallFabrics) {
  Tally tally;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Network network = test::random_fabric(seed, {.max_compute = 4, .max_switches = 2});
    expect_between(network, random_roles(network, seed), seed, tally);
  }
  EXPECT_GT(tally.fabrics, 190);
  EXPECT_EQ(tally.best, tally.fabrics);
  EXPECT_GE(tally.exact, tally.fabrics - 2);
}

TEST(InNetworkLong, IsThatOfAllTreesWithOneWayArcs) {
  Tally tally;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Network network = test::random_fabric(
        seed, {.max_compute = 4, .max_switches = 2, .one_way = seed % 2 == 0, .unbalanced = true});
    expect_between(network, random_roles(network, seed), seed, tally);
  }
  EXPECT_GT(tally.fabrics, 90);
  EXPECT_EQ(tally.best, tally.fabrics);
  EXPECT_GE(tally.exact, tally.fabrics - 2);
}

// Beyond the reach of enumeration: the trees keep all rules, and a gap to the bound is named.
TEST(InNetworkLong, IsReachedOrBoundedOnLargerFabrics) {
  int exact = 0;
  for (std::uint64_t seed = 1000; seed < 1100; ++seed) {
    const Network network = test::random_fabric(
        seed, {.max_compute = 9, .max_switches = 5, .max_capacity = 20, .one_way = seed % 4 == 0});
    const SwitchRoles roles = random_roles(network, seed);
    const auto optimum = allreduce_optimum(network, roles);
    ASSERT_TRUE(optimum && optimum->split) << "seed " << seed;
    EXPECT_EQ(find_split_flaw(network, roles, *optimum->split), "") << "seed " << seed;
    EXPECT_LE(optimum->split->algbw, optimum->upper) << "seed " << seed;
    EXPECT_EQ(optimum->value, optimum->split->algbw.to_double()) << "seed " << seed;
    EXPECT_EQ(optimum->is_exact(), optimum->split->algbw == optimum->upper);
    // Able switches take nothing away.
    EXPECT_GE(optimum->split->algbw, allreduce_optimum(network)->split->algbw) << "seed " << seed;
    exact += optimum->is_exact();
  }
  EXPECT_GT(exact, 95);
}

SwitchRoles in_reverse(SwitchRoles roles) {
  for (SwitchRole& role : roles) std::swap(role.copies, role.combines);
  return roles;
}

// Turned round, what copied combines; and all bandwidths may be counted in other units.
TEST(InNetwork, IsThatOfTheReversedFabricAndScales) {
  for (std::uint64_t seed = 400; seed < 430; ++seed) {
    Network network =
        test::random_fabric(seed, {.max_compute = 4, .max_switches = 2, .one_way = seed % 2 == 0});
    const SwitchRoles roles = random_roles(network, seed);
    const auto optimum = allreduce_optimum(network, roles);
    const auto turned = allreduce_optimum(reversed(network), in_reverse(roles));
    EXPECT_EQ(optimum->upper, turned->upper) << "seed " << seed;
    EXPECT_EQ(optimum->split->algbw, turned->split->algbw) << "seed " << seed;
    for (Capacity& capacity : network.capacity) capacity *= 7;
    EXPECT_EQ(allreduce_optimum(network, roles)->upper, optimum->upper * Ratio(7));
  }
}

// Leaves of eight rails and four spines: trees of a class through one rail and one spine, 32
// images.
TEST(InNetwork, ClassesOfOneRailHaveImagesOnAllRails) {
  const Topology topology = test::generated_topology(
      "dgx-h100",
      {{"boxes", "8"}, {"fabric", "rail-spine"}, {"boxes-per-leaf", "4"}, {"sharp", "yes"}});
  const Network network = *to_digraph(topology);
  const SwitchRoles roles = switch_roles(topology);
  const auto optimum = allreduce_optimum(network, roles);
  ASSERT_TRUE(optimum && optimum->split);
  EXPECT_EQ(optimum->upper, Ratio(400));
  EXPECT_TRUE(optimum->is_exact());
  EXPECT_GE(optimum->split->broadcast.size(), 8U);
  EXPECT_EQ(find_split_flaw(network, roles, *optimum->split), "");
}

// 18 planes that no rank order shows: every switch has the same neighbours.
TEST(InNetwork, PlanesAreExchanged) {
  FabricBuilder fabric(12, 6);
  for (std::size_t gpu = 0; gpu < 12; ++gpu) {
    for (std::size_t plane = 12; plane < 18; ++plane) fabric.link(gpu, plane, 50);
  }
  const Network network = fabric.build();
  SwitchRoles roles(18);
  for (std::size_t plane = 12; plane < 18; ++plane) roles[NodeId(plane)] = kEchoing;
  EXPECT_EQ(exact_optimum(network, roles), Ratio(6 * 50 * 12, 13));
  // One of them cannot: 12/13 of what the others carry, and half of 12/11 of its own links.
  roles[NodeId(17)] = {};
  const auto optimum = allreduce_optimum(network, roles);
  ASSERT_TRUE(optimum && optimum->split);
  EXPECT_EQ(optimum->split->algbw, Ratio(5 * 50 * 12, 13) + Ratio(50 * 12, 22));
}

// The boxes are alike but for what their switches can do: no symmetry may exchange them.
TEST(InNetwork, OnlyOneOfTwoBoxesCanCopy) {
  const Cluster cluster = h100(2);
  SwitchRoles roles(cluster.network.graph.node_count());
  roles[cluster.nvswitches.front()] = kEchoing;
  const Ratio optimum = exact_optimum(cluster.network, roles);
  EXPECT_GT(optimum, Ratio(800, 3));
  EXPECT_LE(optimum, Ratio(400));
}

// Of one box, whatever their number: 0.1 s.
TEST(InNetwork, SuperPodOf128BoxesIsASmallProgram) {
  const Topology topology = test::generated_topology(
      "dgx-h100", {{"boxes", "128"}, {"fabric", "rail-spine"}, {"sharp", "yes"}});
  const Network network = *to_digraph(topology);
  const auto optimum = allreduce_optimum(network, switch_roles(topology));
  ASSERT_TRUE(optimum);
  EXPECT_TRUE(optimum->is_exact());
  EXPECT_EQ(optimum->upper, Ratio(400));
  EXPECT_LT(optimum->statistics.variables, 500U);
}

TEST(InNetwork, IsABoundWhereItIsGivenUp) {
  const Cluster cluster = h100(2);
  const SwitchRoles roles = cluster.roles(kEchoing, kSharp);
  const auto nothing = allreduce_optimum(cluster.network, roles, {.rounds = 0});
  ASSERT_TRUE(nothing);
  EXPECT_EQ(nothing->upper, Ratio(400));
  EXPECT_FALSE(nothing->split || nothing->value);
  // The classes' program needs more rounds than the bound's.
  const auto half = allreduce_optimum(cluster.network, roles, {.rounds = 2});
  ASSERT_TRUE(half);
  EXPECT_GE(half->upper, Ratio(400));
  // Without a class but the first, trees branch at GPUs alone.
  const auto plain = allreduce_optimum(cluster.network, roles, {.classes = 1});
  ASSERT_TRUE(plain && plain->split);
  EXPECT_EQ(plain->split->algbw, Ratio(800, 3));
  EXPECT_EQ(plain->upper, Ratio(400));
  EXPECT_FALSE(plain->is_exact());
}

}  // namespace
}  // namespace forestcoll::testing
