// The allreduce optimum against the program with all its cuts, closed forms, and packed forests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "allreduce_oracle.hpp"
#include "forestcoll/allreduce.hpp"
#include "forestcoll/pack.hpp"
#include "forestcoll/rate.hpp"
#include "forestcoll/synthesize.hpp"
#include "forestcoll/topology.hpp"
#include "support/fabrics.hpp"
#include "support/oracles.hpp"
#include "support/topology_of.hpp"

namespace forestcoll::testing {
namespace {

using test::FabricBuilder;
using ::testing::HasSubstr;

Ratio two_phases(const Network& network) {
  return bound(network, Collective::allreduce, {})->algbw;
}

// The optimum, which must be known exactly.
Ratio exact_optimum(const Network& network) {
  const auto optimum = allreduce_optimum(network);
  EXPECT_TRUE(optimum) << to_string(optimum.errors().front());
  EXPECT_TRUE(optimum->is_exact());
  EXPECT_EQ(optimum->value, optimum->upper.to_double());
  return optimum->upper;
}

void expect_as_defined(const Network& network, std::uint64_t seed) {
  const auto optimum = allreduce_optimum(network);
  ASSERT_TRUE(optimum) << "seed " << seed << ": " << to_string(optimum.errors().front());
  ASSERT_TRUE(optimum->is_exact()) << "seed " << seed;
  const double expected = by_definition(network);
  EXPECT_NEAR(optimum->upper.to_double(), expected, 1e-7 * expected) << "seed " << seed;
  EXPECT_EQ(find_split_flaw(network, *optimum), "") << "seed " << seed;
}

TEST(AllreduceOptimum, IsTheProgramOfAllCuts) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    expect_as_defined(test::random_fabric(seed, {.max_compute = 5, .max_switches = 2}), seed);
  }
}

TEST(AllreduceOptimum, IsTheProgramOfAllCutsWithOneWayArcs) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    expect_as_defined(
        test::random_fabric(seed, {.max_compute = 4, .max_switches = 2, .one_way = true}), seed);
  }
}

TEST(AllreduceOptimum, IsTheProgramOfAllCutsWithUnbalancedSwitches) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    expect_as_defined(
        test::random_fabric(seed, {.max_compute = 4, .max_switches = 2, .unbalanced = true}), seed);
  }
}

// Both phases cross every cut one way or the other: each of them alone can have all that they have
// together, whatever the shares.
TEST(AllreduceOptimum, IsNeverBelowTheTwoPhasesNorAboveTwice) {
  int better = 0;
  for (std::uint64_t seed = 200; seed < 300; ++seed) {
    const Network network = test::random_fabric(seed, {.one_way = seed % 2 == 0});
    const Ratio optimum = exact_optimum(network);
    EXPECT_GE(optimum, two_phases(network)) << "seed " << seed;
    EXPECT_LE(optimum, two_phases(network) * Ratio(2)) << "seed " << seed;
    better += optimum > two_phases(network);
  }
  EXPECT_GT(better, 20);  // equal roots are seldom best where nodes differ
}

Network star(std::size_t ranks, Capacity capacity) {
  FabricBuilder fabric(ranks, 1);
  for (std::size_t v = 0; v < ranks; ++v) fabric.link(v, ranks, capacity);
  return fabric.build();
}

Network row(std::size_t ranks, bool closed) {
  FabricBuilder fabric(ranks);
  for (std::size_t v = 0; v + 1 < ranks; ++v) fabric.link(v, v + 1, 1);
  if (closed) fabric.link(ranks - 1, 0, 1);
  return fabric.build();
}

// Either tree has N − 1 edges, and each enters a rank.
TEST(AllreduceOptimum, ClosedFormsWithoutAGap) {
  for (const std::int64_t n : {3, 4, 7, 16}) {
    const auto ranks = static_cast<std::size_t>(n);
    EXPECT_EQ(exact_optimum(star(ranks, 1)), Ratio(n, 2 * (n - 1)));
    EXPECT_EQ(exact_optimum(row(ranks, true)), Ratio(n, n - 1));
    EXPECT_EQ(two_phases(row(ranks, true)), Ratio(n, n - 1));
  }
  EXPECT_EQ(exact_optimum(row(2, false)), Ratio(1));
  EXPECT_EQ(exact_optimum(test::torus({4, 4})), Ratio(32, 15));
  EXPECT_EQ(exact_optimum(test::dgx_a100(2)), two_phases(test::dgx_a100(2)));
}

// A link that everything crosses once each way carries all of it, whatever is behind it.
TEST(AllreduceOptimum, ClosedFormsWithAGap) {
  for (const std::int64_t n : {3, 4, 8}) {
    const Network line = row(static_cast<std::size_t>(n), false);
    EXPECT_EQ(exact_optimum(line), Ratio(1));
    EXPECT_EQ(two_phases(line), Ratio(n, 2 * (n - 1)));
  }
  // One rank of a star is behind a link at a tenth of the others'.
  FabricBuilder weak(5, 1);
  for (std::size_t v = 0; v < 5; ++v) weak.link(v, 5, v == 0 ? 1 : 10);
  EXPECT_EQ(exact_optimum(weak.build()), Ratio(1));
  EXPECT_EQ(two_phases(weak.build()), Ratio(5, 8));
  // One way round: an in-tree and an out-tree of n − 1 edges each, on n arcs.
  FabricBuilder circle(4);
  for (std::size_t v = 0; v < 4; ++v) circle.arc(v, (v + 1) % 4, 3);
  EXPECT_EQ(exact_optimum(circle.build()) / circle.build().unit, Ratio(2, 3));
}

// Links between the parts / (parts - 1), the least over all partitions of the nodes; `part` holds
// those of the first nodes.
Ratio weakest_partition(const Network& network, std::vector<int> part, int parts) {
  if (part.size() == network.graph.node_count()) {
    std::int64_t between = 0;
    for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
      const Arc& arc = network.graph.arcs()[a];
      const bool once = arc.tail < arc.head && part[arc.tail.index()] != part[arc.head.index()];
      if (once) between += network.capacity[ArcId(a)];
    }
    return parts == 1 ? Ratio(1'000'000) : Ratio(between, parts - 1);
  }
  Ratio weakest = 1'000'000;
  part.push_back(0);
  for (int p = 0; p <= parts; ++p) {
    part.back() = p;
    weakest = std::min(weakest, weakest_partition(network, part, std::max(parts, p + 1)));
  }
  return weakest;
}

// Where both directions are alike, trees are undirected: Nash-Williams and Tutte.
TEST(AllreduceOptimum, IsTheWeakestPartitionOfLinksWithoutSwitches) {
  for (std::uint64_t seed = 500; seed < 540; ++seed) {
    const Network network = test::random_fabric(seed, {.max_compute = 6, .max_switches = 0});
    EXPECT_EQ(exact_optimum(network), weakest_partition(network, {}, 0) * network.unit)
        << "seed " << seed;
  }
}

Network scaled(Network network, std::int64_t factor) {
  for (Capacity& capacity : network.capacity) capacity *= factor;
  return network;
}

TEST(AllreduceOptimum, ScalesWithTheFabric) {
  for (std::uint64_t seed = 300; seed < 320; ++seed) {
    const Network network = test::random_fabric(seed, {});
    const Ratio optimum = exact_optimum(network);
    EXPECT_EQ(exact_optimum(scaled(network, 7)), optimum * Ratio(7)) << "seed " << seed;
    Network in_other_units = network;
    in_other_units.unit = network.unit * Ratio(3, 8);
    EXPECT_EQ(exact_optimum(in_other_units), optimum * Ratio(3, 8));
  }
}

// Floating point holds such capacities, and not the fractions of them: a bound is left.
TEST(AllreduceOptimum, BoundsHoldBeyond32Bits) {
  constexpr std::int64_t kFactor = std::int64_t{1} << 36;
  for (std::uint64_t seed = 300; seed < 320; ++seed) {
    const Network network = test::random_fabric(seed, {});
    const Ratio expected = exact_optimum(network) * Ratio(kFactor);
    const auto optimum = allreduce_optimum(scaled(network, kFactor));
    ASSERT_TRUE(optimum) << "seed " << seed;
    EXPECT_GE(optimum->upper, expected) << "seed " << seed;
    ASSERT_TRUE(optimum->value.has_value()) << "seed " << seed;
    EXPECT_NEAR(*optimum->value, expected.to_double(), 1e-7 * expected.to_double());
    EXPECT_TRUE(!optimum->split || optimum->split->algbw <= expected) << "seed " << seed;
    EXPECT_TRUE(!optimum->is_exact() || optimum->upper == expected) << "seed " << seed;
  }
}

TEST(AllreduceOptimum, IsThatOfTheReversedFabric) {
  for (std::uint64_t seed = 400; seed < 430; ++seed) {
    const Network network = test::random_fabric(seed, {.one_way = true});
    EXPECT_EQ(exact_optimum(network), exact_optimum(reversed(network))) << "seed " << seed;
  }
}

TEST(AllreduceOptimum, DoesNotLookAtWeights) {
  Network network = test::dgx_a100(2);
  const Ratio optimum = exact_optimum(network);
  network.weight.assign(network.ranks.size(), 1);
  network.weight[Rank(3)] = 5;
  EXPECT_EQ(exact_optimum(network), optimum);
}

// Nothing is gained where all ranks are alike, as on nearly all real fabrics.
TEST(AllreduceOptimum, OfBundledFabrics) {
  for (const std::string name :
       {"dgx-1-v100", "dgx-a100-x1", "dgx-a100-x2", "dgx-a100-x4", "dgx-h100-x4-rail",
        "dgx-h100-x4-rail-2to1", "dragonfly-72", "fat-tree-4", "hypercube-16", "mi250-x1",
        "mi250-x2", "torus-4x4", "torus-8x8x8"}) {
    EXPECT_EQ(exact_optimum(test::bundled_network(name)), two_phases(test::bundled_network(name)))
        << name;
  }
  EXPECT_EQ(exact_optimum(test::bundled_network("dgx-a100-x2-degraded")), Ratio(2075, 12));
  EXPECT_EQ(two_phases(test::bundled_network("dgx-a100-x2-degraded")), Ratio(500, 3));
  // With nothing rooted in an A100 box, 8X enters its GPUs to be broadcast and leaves them to be
  // reduced; 200 each way go by the NICs, so 16X - 400 enter through NVSwitch ports of 2,400.
  EXPECT_EQ(exact_optimum(test::bundled_network("mixed-a100-h100")), Ratio(175));
  EXPECT_EQ(two_phases(test::bundled_network("mixed-a100-h100")), Ratio(400, 3));
}

Network mesh(std::size_t rows, std::size_t columns) {
  FabricBuilder fabric(rows * columns);
  for (std::size_t v = 0; v < rows * columns; ++v) {
    if ((v + 1) % columns != 0) fabric.link(v, v + 1, 1);
    if (v + columns < rows * columns) fabric.link(v, v + columns, 1);
  }
  return fabric.build();
}

// Every arc of a mesh can be busy, though equal roots leave all but the corners' idle.
TEST(AllreduceOptimum, OfMeshes) {
  for (const auto& [rows, columns] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{2, 3}, {4, 4}, {5, 7}, {8, 8}}) {
    const Network network = mesh(static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
    const std::int64_t links = rows * (columns - 1) + columns * (rows - 1);
    const std::int64_t ranks = rows * columns;
    EXPECT_EQ(exact_optimum(network), Ratio(links, ranks - 1));
    EXPECT_EQ(two_phases(network), Ratio(ranks, ranks - 1));
  }
}

// One phase of a split as a fabric of its own, in units of 1/`denominator`.
Network part(const Network& network, const IdVector<ArcId, Ratio>& taken,
             std::int64_t denominator) {
  Network part = network;
  std::vector<Arc> arcs;
  part.capacity = {};
  for (std::size_t a = 0; a < taken.size(); ++a) {
    const Ratio units = taken[ArcId(a)] * Ratio(denominator);
    EXPECT_EQ(units.den(), 1);
    if (units == Ratio(0)) continue;
    arcs.push_back(network.graph.arcs()[a]);
    part.capacity.push_back(units.num());
  }
  part.graph = Digraph(network.graph.node_count(), arcs);
  return part;
}

// Packs trees into a split, by the solver that knows nothing of it.
void expect_packs(const Network& network, const AllreduceSplit& found) {
  const RankSplit split = of_ranks(network, found);
  std::int64_t denominator = 1;
  for (const auto* phase : {&split.reduce, &split.broadcast}) {
    for (const Ratio& taken : *phase) denominator = std::lcm(denominator, taken.den());
  }
  for (const Ratio& root : split.root) denominator = std::lcm(denominator, root.den());
  Weights weights;
  std::int64_t common = 0;
  for (const Ratio& root : split.root) {
    weights.push_back((root * Ratio(denominator)).num());
    common = std::gcd(common, *(weights.end() - 1));
  }
  for (std::int64_t& weight : weights) weight /= common;
  const std::vector<Network> parts = {part(network, split.broadcast, denominator),
                                      reversed(part(network, split.reduce, denominator))};
  for (const Network& fabric : parts) {
    const Rate rate = optimal_rate(fabric, weights);
    EXPECT_LE(rate.inverse, Ratio(1, common));  // so many units per unit of weight
    const auto packing = pack(fabric, weights, scale_to_optimum(fabric, rate));
    ASSERT_TRUE(packing);
    EXPECT_EQ(packing->scaling.scale, scale_to_optimum(fabric, rate).scale);
    EXPECT_EQ(test::find_forest_flaw(fabric, weights, packing->scaling, packing->forest), "");
  }
}

TEST(AllreduceOptimumLong, TreesFitIntoTheSplit) {
  const std::vector<Network> fabrics = {test::dgx_a100(2),
                                        test::mi250(2),
                                        test::torus({3, 4}),
                                        mesh(4, 4),
                                        test::bundled_network("dgx-a100-x2-degraded"),
                                        test::bundled_network("mixed-a100-h100")};
  for (const Network& network : fabrics) {
    const auto optimum = allreduce_optimum(network);
    ASSERT_TRUE(optimum && optimum->split);
    expect_packs(network, *optimum->split);
  }
}

// With all data at one rank more may be needed than a round or two of cuts, or a few pivots.
TEST(AllreduceOptimum, IsABoundWhereItIsGivenUp) {
  for (const AllreduceLimits& limits :
       {AllreduceLimits{.rounds = 1}, AllreduceLimits{.pivots = 5}}) {
    for (std::uint64_t seed = 600; seed < 620; ++seed) {
      const Network network = test::random_fabric(seed, {.max_compute = 8, .one_way = true});
      const auto optimum = allreduce_optimum(network, {}, limits);
      ASSERT_TRUE(optimum) << "seed " << seed;
      EXPECT_GE(optimum->upper, exact_optimum(network)) << "seed " << seed;
      EXPECT_LE(optimum->upper, two_phases(network) * Ratio(2)) << "seed " << seed;
      if (optimum->is_exact()) {
        EXPECT_EQ(find_split_flaw(network, *optimum), "") << "seed " << seed;
      }
    }
  }
  const auto nothing = allreduce_optimum(test::dgx_a100(2), {}, {.rounds = 0});
  ASSERT_TRUE(nothing);
  EXPECT_EQ(nothing->upper, Ratio(200));  // by the NICs of a box
  EXPECT_FALSE(nothing->split || nothing->value);
}

TEST(AllreduceOptimum, SaysWhatDoesNotFit) {
  Network network = row(3, true);  // 3/2 in its units
  network.unit = Ratio(std::int64_t{9'000'000'000'000'000'001});
  const auto optimum = allreduce_optimum(network);
  ASSERT_FALSE(optimum);
  EXPECT_EQ(optimum.errors().front().code, Code::E14);
  EXPECT_EQ(optimum.errors().front().kind, ErrorKind::limit);
}

// Links of 1 … 9 times a power of ten up to 10^`exponent`, both directions of each alike.
Network with_wide_range(Network network, std::uint64_t seed, std::uint64_t exponent) {
  std::mt19937_64 random(seed);
  const auto factor = [&] {
    Capacity power = 1;
    for (std::uint64_t e = random() % (exponent + 1); e > 0; --e) power *= 10;
    return power * static_cast<Capacity>(1 + random() % 9);
  };
  for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
    const Arc& arc = network.graph.arcs()[a];
    const ArcId back = network.graph.find(arc.head, arc.tail);
    const bool is_second = back.valid() && back.index() < a;
    network.capacity[ArcId(a)] = is_second ? network.capacity[back] : factor();
  }
  return network;
}

TEST(AllreduceOptimum, IsProvedOrBoundedWhereCapacitiesAreFarApart) {
  int found = 0, proved = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Network network = with_wide_range(
        test::random_fabric(seed, {.max_compute = 4, .max_switches = 1, .one_way = seed % 3 == 0}),
        seed, 6 + seed % 5);
    const auto optimum = allreduce_optimum(network);
    ASSERT_TRUE(optimum) << "seed " << seed;
    const double expected = by_definition(network), upper = optimum->upper.to_double();
    EXPECT_GE(upper, expected * (1 - 1e-12)) << "seed " << seed;
    EXPECT_LE(upper, expected * 2) << "seed " << seed;
    found += optimum->value.has_value();
    proved += optimum->is_exact();
    if (!optimum->value) continue;
    EXPECT_NEAR(*optimum->value, expected, 1e-6 * expected) << "seed " << seed;
    EXPECT_LE(*optimum->value, upper) << "seed " << seed;
    if (!optimum->is_exact()) continue;
    EXPECT_NEAR(upper, expected, 1e-12 * expected) << "seed " << seed;
    EXPECT_EQ(find_split_flaw(network, *optimum), "") << "seed " << seed;
  }
  EXPECT_EQ(found, 300);
  EXPECT_GT(proved, 290);
}

// All data passes rank 2, whose link is of 1; beside the other two it is lost in floating point.
TEST(AllreduceOptimum, SmallestLinkOfAStarIsTheLimit) {
  for (const Capacity large : {Capacity{100'000'000}, Capacity{900'000'000}, Capacity{1} << 55}) {
    FabricBuilder star(3, 1);
    star.link(0, 3, 75);
    star.link(1, 3, large);
    star.link(2, 3, 1);
    EXPECT_EQ(exact_optimum(star.build()), Ratio(1));
  }
}

TEST(AllreduceOptimum, IsKnownWhereNumbersAreFarApart) {
  for (const Capacity large : {Capacity{1} << 20, Capacity{1} << 40, Capacity{1} << 55}) {
    FabricBuilder fabric(3);
    fabric.link(0, 1, large + 1);
    fabric.link(1, 2, 1);
    fabric.link(2, 0, 1);
    EXPECT_EQ(exact_optimum(fabric.build()), Ratio(2));  // both links of rank 2
  }
}

}  // namespace
}  // namespace forestcoll::testing
