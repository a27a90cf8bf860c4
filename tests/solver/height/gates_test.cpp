// Heights of allreduces that full links between boxes force, beside the fastest trees of any
// height.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "forestcoll/synthesize.hpp"
#include "solver/height/bound/bound.hpp"
#include "solver/height/bound/cuts.hpp"
#include "support/fabrics.hpp"

namespace forestcoll {
namespace {

// Boxes whose ranks are chains, the first of each at one rail, the second at the next one.
struct Chains {
  std::vector<std::size_t> sizes;
  std::size_t rails = 0;

  [[nodiscard]] Network build(std::mt19937_64& random, Capacity most) const {
    std::size_t ranks = 0, rank = 0;
    for (const std::size_t size : sizes) ranks += size;
    test::FabricBuilder builder(ranks, rails);
    const auto width = [&] { return static_cast<Capacity>(1 + random() % most); };
    for (const std::size_t size : sizes) {
      for (std::size_t i = 0; i < size; ++i, ++rank) {
        if (i > 0) builder.link(rank - 1, rank, 101);
        builder.arc(rank, ranks + i % rails, width());
        builder.arc(ranks + i % rails, rank, width());
      }
    }
    return builder.build();
  }
};

std::int32_t height_of(const CollectiveForest& forest) {
  return std::max(forest.reduce->max_height(), forest.broadcast->max_height());
}

Ratio rate_of(const CollectiveForest& forest, const Network& network) {
  return *checked_div(forest.algbw, network.unit);
}

// Of so few ranks they are the fastest that any trees of a height are.
TEST(AllreduceGatesLong, NoForestIsLower) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 8; ++round) {
    const Chains chains{{3, 3, 1}, 1 + random() % 3};
    const Network network = chains.build(random, round % 2 == 0 ? 1 : 4);
    for (std::int32_t height = 2; height <= 3; ++height) {
      SynthesizeOptions options;
      options.collective = Collective::allreduce;
      options.max_height = height;
      options.trees_per_root = {TreesPerRoot::Mode::optimal, 0};
      options.beside_less = false;
      const auto found = synthesize(network, options);
      if (!found) continue;
      const Ratio rate = rate_of(found->forest, network);
      const std::int32_t forced = solver::allreduce_height_forced_by_gates(network, rate);
      EXPECT_LE(forced, height_of(found->forest)) << "round " << round << ", height " << height;
    }
  }
}

// Data that crosses at the end of a chain has come all along one of two.
TEST(AllreduceGates, FullRailsAreCrossedAtTheFarEndsOfBoxes) {
  std::mt19937_64 random(1);
  const Network network = Chains{{4, 4, 4, 4}, 4}.build(random, 1);
  SynthesizeOptions options;
  options.collective = Collective::allreduce;
  options.trees_per_root = {TreesPerRoot::Mode::optimal, 0};
  const auto found = synthesize(network, options);
  ASSERT_TRUE(found);
  const Ratio rate = rate_of(found->forest, network);
  EXPECT_EQ(rate, Ratio(8, 3));
  EXPECT_EQ(solver::allreduce_height_forced_by_gates(network, rate), 4);
  EXPECT_EQ(solver::allreduce_height_forced_by_gates(network, rate * Ratio(1, 2)), 1);
  EXPECT_EQ(found->least_height, 4);
  EXPECT_GE(height_of(found->forest), 4);
}

// One switch joins all gates: those in the middle of the chains may take what crosses.
TEST(AllreduceGates, OneSwitchOfAllRailsForcesLess) {
  std::mt19937_64 random(1);
  const Network network = Chains{{4, 4, 4, 4}, 1}.build(random, 1);
  EXPECT_EQ(solver::allreduce_height_forced_by_gates(network, Ratio(8, 3)), 3);
}

// A rank that its box does not reach inside is none of a box's: nothing is known then.
TEST(AllreduceGates, BoxesThatFallApartForceNothing) {
  test::FabricBuilder builder(6, 1);
  for (std::size_t box = 0; box < 3; ++box) {
    builder.arc(2 * box, 2 * box + 1, 100);
    for (std::size_t i = 0; i < 2; ++i) builder.link(2 * box + i, 6, 1);
  }
  const Network network = builder.build();
  EXPECT_EQ(solver::allreduce_height_forced_by_gates(network, Ratio(3, 2)), 1);
  const Weights all = uniform_weights(network);
  EXPECT_EQ(solver::farthest(network, all)[Rank(std::size_t{0})], 1);
}

}  // namespace
}  // namespace forestcoll
