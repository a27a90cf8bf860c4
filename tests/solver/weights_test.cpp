// Unequal shares: rate, scaling and packing against brute force, and through the facade.
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "forestcoll/pack.hpp"
#include "forestcoll/rate.hpp"
#include "forestcoll/synthesize.hpp"
#include "forestcoll/verify.hpp"
#include "support/fabrics.hpp"
#include "support/oracles.hpp"

namespace forestcoll {
namespace {

// Some 0, at least one positive, and not all alike.
Weights random_weights(std::uint64_t seed, std::size_t ranks) {
  std::mt19937_64 random(seed);
  Weights weights;
  for (std::size_t r = 0; r < ranks; ++r) weights.push_back(static_cast<int>(random() % 4));
  weights[Rank(random() % ranks)] = 5;
  return weights;
}

Network weighted_fabric(std::uint64_t seed, const test::RandomOptions& options) {
  Network network = test::random_fabric(seed, options);
  network.weight = random_weights(seed, network.ranks.size());
  return network;
}

std::int64_t total(const Weights& weights) {
  return std::accumulate(weights.begin(), weights.end(), std::int64_t{0});
}

TEST(Weights, SharesAreOneEachWhereTheTopologySaysNothing) {
  Network network = test::random_fabric(1, {});
  EXPECT_EQ(shares(network), uniform_weights(network));
  network.weight = random_weights(1, network.ranks.size());
  EXPECT_EQ(shares(network), network.weight);
}

TEST(Weights, TheRateIsThatOfBruteForceAndOfBisection) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Network network = weighted_fabric(seed, {.one_way = seed % 3 == 0});
    const Rate rate = optimal_rate(network, network.weight);
    ASSERT_EQ(rate.inverse, test::brute_force_inverse_rate(network, network.weight)) << seed;
    ASSERT_EQ(rate.inverse, rate_by_bisection(network, network.weight)) << seed;
  }
}

TEST(Weights, EveryRankRootsItsShareOfTheTrees) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Network network = weighted_fabric(seed, {.max_compute = 7, .one_way = seed % 3 == 0});
    const Scaling scaling = scale_to_optimum(network, optimal_rate(network, network.weight));
    const auto packing = pack(network, network.weight, scaling);
    ASSERT_TRUE(packing) << seed;
    EXPECT_EQ(packing->scaling.scale, scaling.scale) << seed;
    EXPECT_EQ(test::find_forest_flaw(network, network.weight, packing->scaling, packing->forest),
              "")
        << seed;
  }
}

TEST(WeightsLong, AlgbwIsTheDataOfAllRanksOverTheTime) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Network network = weighted_fabric(seed, {.one_way = seed % 2 == 0});
    const Ratio data(total(network.weight));
    const Ratio inverse = test::brute_force_inverse_rate(network, network.weight);
    const Ratio back = test::brute_force_inverse_rate(reversed(network), network.weight);
    const Ratio gather = data / inverse * network.unit;
    const Ratio scatter = data / back * network.unit;
    for (const auto& [collective, algbw] :
         {std::pair(Collective::allgather, gather), std::pair(Collective::reduce_scatter, scatter),
          std::pair(Collective::allreduce, gather * scatter / (gather + scatter))}) {
      const auto best = bound(network, collective, {});
      ASSERT_TRUE(best);
      EXPECT_EQ(best->algbw, algbw) << seed << to_string(collective);
      const auto synthesis = synthesize(network, {.collective = collective, .at_once = false});
      ASSERT_TRUE(synthesis);
      EXPECT_EQ(synthesis->forest.algbw, algbw) << seed << to_string(collective);
      EXPECT_EQ(synthesis->forest.weight, network.weight);
    }
  }
}

TEST(Weights, ARootOwnsEverything) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Network network = weighted_fabric(seed, {});
    const auto weighted = bound(network, Collective::broadcast, Rank(0));
    const auto synthesis =
        synthesize(network, {.collective = Collective::broadcast, .root = Rank(0)});
    network.weight = {};
    const auto plain = bound(network, Collective::broadcast, Rank(0));
    ASSERT_TRUE(weighted && plain && synthesis);
    EXPECT_EQ(weighted->algbw, plain->algbw);
    EXPECT_TRUE(synthesis->forest.weight.empty());
  }
}

TEST(Weights, FixedKIsPerUnitOfWeight) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Network network = weighted_fabric(seed, {});
    const Rate rate = optimal_rate(network, network.weight);
    for (const std::int64_t k : {1, 2, 5}) {
      const auto scaling = scale_to_k(network, network.weight, rate, k);
      ASSERT_TRUE(scaling);
      const auto packing = pack(network, network.weight, *scaling);
      ASSERT_TRUE(packing);
      EXPECT_EQ(test::find_forest_flaw(network, network.weight, packing->scaling, packing->forest),
                "")
          << seed;
    }
  }
}

}  // namespace
}  // namespace forestcoll
