// The optimal rate against all cuts by brute force, its certificate, and known answers.
#include "forestcoll/rate.hpp"

#include <gtest/gtest.h>

#include <random>
#include <stop_token>
#include <vector>

#include "support/fabrics.hpp"
#include "support/oracles.hpp"

namespace forestcoll {
namespace {

using test::RandomOptions;

Ratio allgather_algbw(const Network& network) {
  const Rate rate = optimal_rate(network, uniform_weights(network));
  return Ratio(static_cast<std::int64_t>(network.ranks.size())) / rate.inverse * network.unit;
}

Weights random_weights(const Network& network, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Weights weights(network.ranks.size(), 0);
  for (auto& weight : weights) weight = static_cast<std::int64_t>(random() % 4);
  weights[Rank(0)] += 1;
  return weights;
}

void expect_certified(const Network& network, const Weights& weights, const Rate& rate) {
  std::vector<bool> sending(network.graph.node_count(), false);
  for (const NodeId v : rate.bottleneck.sending) sending[v.index()] = true;
  std::int64_t weight = 0, exit = 0;
  bool misses_one = false;
  for (std::size_t r = 0; r < network.ranks.size(); ++r) {
    if (sending[network.ranks[r].index()]) {
      weight += weights[Rank(r)];
    } else {
      misses_one = true;
    }
  }
  for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
    const Arc arc = network.graph.arcs()[a];
    if (sending[arc.tail.index()] && !sending[arc.head.index()]) exit += network.capacity[ArcId(a)];
  }
  EXPECT_TRUE(misses_one);
  EXPECT_EQ(weight, rate.bottleneck.weight);
  EXPECT_EQ(exit, rate.bottleneck.exit);
  EXPECT_EQ(rate.inverse, Ratio(weight, exit));
}

TEST(OptimalRate, AgreesWithAllCutsOnThousandsOfRandomFabrics) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    RandomOptions options;
    options.one_way = seed % 3 == 1;
    options.unbalanced = seed % 5 == 0;
    options.max_capacity = seed % 2 == 0 ? 3 : 1'000'000'000;
    const Network network = test::random_fabric(seed, options);
    const Weights weights =
        seed % 4 == 3 ? random_weights(network, seed) : uniform_weights(network);
    const Rate rate = optimal_rate(network, weights);
    ASSERT_EQ(rate.inverse, test::brute_force_inverse_rate(network, weights)) << "seed " << seed;
    expect_certified(network, weights, rate);
  }
}

TEST(OptimalRate, OfASingleRootIsTheNarrowestCutFromIt) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const Network network = test::random_fabric(seed, {.one_way = seed % 2 == 0});
    const Weights weights = single_root(network, Rank(network.ranks.size() - 1));
    ASSERT_EQ(optimal_rate(network, weights).inverse,
              test::brute_force_inverse_rate(network, weights))
        << "seed " << seed;
  }
}

TEST(OptimalRate, KnownAnswers) {
  EXPECT_EQ(allgather_algbw(test::dgx_a100(1)), Ratio(2400, 7));
  EXPECT_EQ(allgather_algbw(test::dgx_a100(2)), Ratio(1040, 3));
  EXPECT_EQ(allgather_algbw(test::dgx_a100(4)), Ratio(800, 3));
  EXPECT_EQ(allgather_algbw(test::dgx_a100(8)), Ratio(1600, 7));
  EXPECT_EQ(allgather_algbw(test::hypercube(4)), Ratio(64, 15));
  EXPECT_EQ(allgather_algbw(test::torus({4, 4})), Ratio(64, 15));
  EXPECT_EQ(allgather_algbw(test::torus({8, 8})), Ratio(256, 63));
}

TEST(OptimalRate, ScalesWithTheCapacities) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Network network = test::random_fabric(seed, {});
    const Weights weights = uniform_weights(network);
    const Ratio before = optimal_rate(network, weights).inverse;
    // Beyond 32 bits: a product cut to an int would show.
    for (auto& capacity : network.capacity) capacity *= std::int64_t{1} << 36;
    EXPECT_EQ(optimal_rate(network, weights).inverse * Ratio(std::int64_t{1} << 36), before);
  }
}

TEST(OptimalRate, DoesNotDependOnTheNamesOfNodes) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Network network = test::random_fabric(seed, {.one_way = seed % 2 == 0});
    Network renamed = network;
    const std::size_t n = network.graph.node_count();
    const auto rename = [&](NodeId v) { return NodeId(n - 1 - v.index()); };
    std::vector<Arc> arcs;
    for (const Arc& arc : network.graph.arcs())
      arcs.push_back({rename(arc.tail), rename(arc.head)});
    std::vector<std::size_t> order;
    renamed.graph = Digraph(n, arcs, &order);
    for (std::size_t a = 0; a < order.size(); ++a) {
      renamed.capacity[ArcId(a)] = network.capacity[ArcId(order[a])];
    }
    renamed.rank_of.assign(n, Rank());
    for (std::size_t r = 0; r < network.ranks.size(); ++r) {
      renamed.ranks[r] = rename(network.ranks[r]);
      renamed.rank_of[renamed.ranks[r]] = Rank(r);
    }
    EXPECT_EQ(optimal_rate(network, uniform_weights(network)).inverse,
              optimal_rate(renamed, uniform_weights(renamed)).inverse)
        << "seed " << seed;
  }
}

TEST(OptimalRate, NeverFallsWhenALinkIsAdded) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Network network = test::random_fabric(seed, {});
    test::FabricBuilder builder(network.ranks.size(),
                                network.graph.node_count() - network.ranks.size());
    for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
      const Arc arc = network.graph.arcs()[a];
      builder.arc(arc.tail.index(), arc.head.index(),
                  network.capacity[ArcId(a)] * network.unit.num());
    }
    builder.link(0, 1, 1);
    EXPECT_GE(allgather_algbw(builder.build()), allgather_algbw(network)) << "seed " << seed;
  }
}

TEST(OptimalRate, OfTwoNodesIsTheNarrowerDirection) {
  test::FabricBuilder builder(2);
  builder.arc(0, 1, 7);
  builder.arc(1, 0, 3);
  EXPECT_EQ(allgather_algbw(builder.build()), Ratio(6));
}

// One flow per kind of sink, not one per sink, once there are so many that it pays.
TEST(OptimalRate, OfManyAlikeBoxesTakesAFewFlows) {
  const Network network = test::dgx_a100(1024);
  const Rate rate = optimal_rate(network, uniform_weights(network));
  EXPECT_EQ(Ratio(8192) / rate.inverse * network.unit, Ratio(204800, 1023));
  EXPECT_LT(rate.statistics.flows, 2000);
  expect_certified(network, uniform_weights(network), rate);
}

// The sinks of the box that is not like the others are asked each.
TEST(OptimalRateLong, OfManyAlikeBoxesSeesTheOneThatDiffers) {
  const Network whole = test::dgx_a100(1024);
  for (const std::size_t gpu : {std::size_t{0}, std::size_t{8188}, std::size_t{8191}}) {
    NodeId nic;
    const NodeId v = whole.ranks[gpu];
    Capacity least = INT64_MAX;
    for (ArcId a = whole.graph.first_out(v); a != whole.graph.last_out(v); ++a.value) {
      if (whole.capacity[a] >= least) continue;
      least = whole.capacity[a];
      nic = whole.graph.head(a);
    }
    const Network network = test::derated(whole, v, nic, Ratio(1, 2));
    const Rate rate = optimal_rate(network, uniform_weights(network));
    EXPECT_EQ(Ratio(8192) / rate.inverse * network.unit, Ratio(375 * 512, 1023)) << gpu;
    expect_certified(network, uniform_weights(network), rate);
  }
}

TEST(OptimalRate, StoppedIsABoundThatItsCutProves) {
  const Network network = test::torus_with_narrow_corner();
  const Weights weights = uniform_weights(network);
  const Rate best = optimal_rate(network, weights);
  EXPECT_TRUE(best.optimal);
  EXPECT_EQ(best.inverse, Ratio(1022, 6));

  std::stop_source source;
  source.request_stop();
  const Rate stopped = optimal_rate(network, weights, {}, source.get_token());
  EXPECT_FALSE(stopped.optimal);
  EXPECT_LT(stopped.statistics.flows, best.statistics.flows);
  EXPECT_LT(stopped.inverse, best.inverse);
  EXPECT_EQ(stopped.inverse, Ratio(stopped.bottleneck.weight, stopped.bottleneck.exit));
}

TEST(OptimalRate, OfASmallFabricIsNotWorthAStop) {
  std::stop_source source;
  source.request_stop();
  const Network network = test::dgx_a100(2);
  const Weights weights = uniform_weights(network);
  const Rate rate = optimal_rate(network, weights, {}, source.get_token());
  EXPECT_TRUE(rate.optimal);
  EXPECT_EQ(rate.inverse, optimal_rate(network, weights).inverse);
}

}  // namespace
}  // namespace forestcoll
