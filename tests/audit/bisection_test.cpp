// The rate by bisection against the definition: the maximum over all cuts.
#include <gtest/gtest.h>

#include <random>

#include "forestcoll/verify.hpp"
#include "support/fabrics.hpp"
#include "support/oracles.hpp"

namespace forestcoll {
namespace {

// Any fabric: of links, or of cycles one way, with switches whose sides differ or not.
Network random_network(std::uint64_t seed, Capacity largest) {
  return test::random_fabric(seed, {.max_compute = 6,
                                    .max_switches = 3,
                                    .max_capacity = largest,
                                    .one_way = seed / 2 % 2 == 0,
                                    .unbalanced = seed / 4 % 2 == 0});
}

Weights weights_for(const Network& network, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Weights weights(network.ranks.size(), 1);
  if (seed % 3 == 1) {  // a single root
    weights.assign(network.ranks.size(), 0);
    weights[Rank(random() % network.ranks.size())] = 1;
  }
  if (seed % 3 == 2) {
    for (auto& w : weights) w = static_cast<std::int64_t>(random() % 5);
    weights[Rank(0)] = 1;
  }
  return weights;
}

void expect_as_by_definition(std::uint64_t seeds, Capacity largest) {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const Network network = random_network(seed, largest);
    const Weights weights = weights_for(network, seed);
    EXPECT_EQ(rate_by_bisection(network, weights), test::brute_force_inverse_rate(network, weights))
        << seed;
  }
}

TEST(Bisection, AgreesWithAllCuts) {
  expect_as_by_definition(750, 12);
  expect_as_by_definition(750, 1'000'000);
}

TEST(Bisection, CapacitiesBeyond32Bits) {
  expect_as_by_definition(200, Capacity{1} << 50);
}

TEST(Bisection, TwoNodes) {
  test::FabricBuilder fabric(2);
  fabric.arc(0, 1, 7);
  fabric.arc(1, 0, 3);
  EXPECT_EQ(rate_by_bisection(fabric.build(), Weights(2, 1)), Ratio(1, 3));
}

TEST(Bisection, ScalesInversely) {
  Network network = random_network(7, 20);
  const Weights weights = weights_for(network, 0);
  const Ratio rate = rate_by_bisection(network, weights);
  for (Capacity& c : network.capacity) c *= Capacity{1} << 36;
  EXPECT_EQ(rate_by_bisection(network, weights) * Ratio(Capacity{1} << 36), rate);
}

TEST(Bisection, BoxesBehindASwitch) {
  // Two boxes of four: 300 each way to the box's switch, 25 to the common one.
  test::FabricBuilder fabric(8, 3);
  for (std::size_t g = 0; g < 8; ++g) {
    fabric.link(g, 8 + g / 4, 300);
    fabric.link(g, 10, 25);
  }
  const Network network = fabric.build();
  EXPECT_EQ(rate_by_bisection(network, Weights(8, 1)) / network.unit, Ratio(4, 100));
}

}  // namespace
}  // namespace forestcoll
