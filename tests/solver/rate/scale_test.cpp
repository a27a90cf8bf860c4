// Integral scalings: the optimum's by its definition, a fixed k's by trying every smaller scale.
#include <gtest/gtest.h>

#include <algorithm>

#include "forestcoll/pack.hpp"
#include "support/fabrics.hpp"
#include "support/oracles.hpp"

namespace forestcoll {
namespace {

// Do capacities ⌊scale·b⌋ carry k trees over every cut?
bool carries(const Network& network, const Ratio& scale, std::int64_t k) {
  Network floored = network;
  for (auto& capacity : floored.capacity) {
    capacity = static_cast<Capacity>(Int128{capacity} * scale.num() / scale.den());
  }
  const std::size_t n = network.graph.node_count();
  for (std::uint32_t set = 1; set < (1u << n); ++set) {
    std::int64_t weight = 0, exit = 0;
    bool misses_one = false;
    for (const NodeId v : network.ranks) {
      (set >> v.value & 1) ? void(++weight) : void(misses_one = true);
    }
    if (!misses_one) continue;
    for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
      const Arc arc = network.graph.arcs()[a];
      if ((set >> arc.tail.value & 1) && !(set >> arc.head.value & 1)) {
        exit += floored.capacity[ArcId(a)];
      }
    }
    if (exit < k * weight) return false;
  }
  return true;
}

TEST(ScaleToOptimum, IsTheLeastKThatReachesTheRate) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Network network = test::random_fabric(seed, {});
    const Rate rate = optimal_rate(network, uniform_weights(network));
    const Scaling scaling = scale_to_optimum(network, rate);
    EXPECT_EQ(scaling.scale / Ratio(scaling.k), rate.inverse);
    for (std::int64_t k = 1; k < scaling.k; ++k) {
      // At a smaller k the optimal scale is not integral for some capacity.
      const Ratio scale = rate.inverse * Ratio(k);
      EXPECT_TRUE(std::any_of(network.capacity.begin(), network.capacity.end(),
                              [&](Capacity b) { return (scale * Ratio(b)).den() != 1; }))
          << "seed " << seed << " k " << k;
    }
  }
}

TEST(ScaleToK, IsTheLeastScaleThatCarries) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Network network =
        test::random_fabric(seed, {.max_compute = 4, .max_switches = 2, .one_way = seed % 2 == 0});
    const Weights weights = uniform_weights(network);
    const Rate rate = optimal_rate(network, weights);
    for (std::int64_t k = 1; k <= 3; ++k) {
      const auto scaling = scale_to_k(network, weights, rate, k);
      ASSERT_TRUE(scaling);
      EXPECT_TRUE(carries(network, scaling->scale, k)) << "seed " << seed << " k " << k;
      // Floors only change at j/b: the next smaller such scale must not carry.
      Ratio below = 0;
      for (const Capacity b : network.capacity) {
        const Int128 whole = Int128{scaling->scale.num()} * b;
        const auto floor = static_cast<std::int64_t>(whole / scaling->scale.den());
        const bool exact = whole % scaling->scale.den() == 0;
        below = std::max(below, Ratio(exact ? floor - 1 : floor, b));
      }
      EXPECT_FALSE(carries(network, below, k)) << "seed " << seed << " k " << k;
    }
  }
}

TEST(ScaleToK, KnownAnswers) {
  const Network network = test::dgx_a100(2);
  const Weights weights = uniform_weights(network);
  const Rate rate = optimal_rate(network, weights);
  const auto algbw = [&](std::int64_t k) {
    return Ratio(16 * k) / scale_to_k(network, weights, rate, k)->scale * network.unit;
  };
  for (std::int64_t k = 1; k <= 6; ++k) EXPECT_EQ(algbw(k), Ratio(2400, 7)) << k;
  EXPECT_EQ(algbw(13), Ratio(1040, 3));
}

TEST(ScaleToK, SaysWhereNumbersGrowTooLarge) {
  const Network network = test::dgx_a100(2);
  const Weights weights = uniform_weights(network);
  const auto scaling =
      scale_to_k(network, weights, optimal_rate(network, weights), std::int64_t{1} << 60);
  ASSERT_FALSE(scaling);
  EXPECT_EQ(scaling.errors().front().code, Code::E14);
  EXPECT_EQ(scaling.errors().front().kind, ErrorKind::limit);
}

// The first scale tried, k·weight over a cut of coprime capacities, has a huge denominator.
TEST(ScaleToK, TakesCoprimeCapacitiesUpToABillion) {
  for (const std::uint64_t seed : {4, 32, 39, 46}) {
    const Network network = test::random_fabric(seed, {.max_capacity = 1'000'000'000});
    const Weights weights = uniform_weights(network);
    const auto scaling = scale_to_k(network, weights, optimal_rate(network, weights), 1);
    ASSERT_TRUE(scaling) << seed;
    const auto packing = pack(network, weights, *scaling);
    ASSERT_TRUE(packing) << seed;
    EXPECT_EQ(test::find_forest_flaw(network, weights, packing->scaling, packing->forest), "");
  }
}

TEST(ScaleToK, SaysThatItWasStopped) {
  const Network network = test::torus_with_narrow_corner();
  const Weights weights = uniform_weights(network);
  const Rate rate = optimal_rate(network, weights);
  ASSERT_TRUE(scale_to_k(network, weights, rate, 1));
  std::stop_source source;
  source.request_stop();
  const auto stopped = scale_to_k(network, weights, rate, 1, source.get_token());
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.errors().front().code, Code::R01);
}

}  // namespace
}  // namespace forestcoll
