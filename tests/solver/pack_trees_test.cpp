#include "solver/pack_trees.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "forestcoll/pack.hpp"
#include "forestcoll/rate.hpp"
#include "support/fabrics.hpp"
#include "support/oracles.hpp"

namespace forestcoll {
namespace {

struct Packed {
  Packing packing;
  std::int32_t least_height = 0;
};

// At the optimal rate, and found to be without a flaw.
Packed packed(const Network& network, bool symmetry) {
  const Weights weights = uniform_weights(network);
  const Scaling scaling = scale_to_optimum(network, optimal_rate(network, weights));
  auto packing = pack(network, weights, scaling, {.symmetry = symmetry});
  EXPECT_EQ(test::find_forest_flaw(network, weights, packing->scaling, packing->forest), "");
  return {*std::move(packing), height_lower_bound(network, weights, scaling)};
}

TEST(PackTrees, GivesAHardPackingUpForFlatTrees) {
  for (const bool symmetry : {false, true}) {
    const auto [packing, least] = packed(test::jellyfish(64, 6, 6, 1), symmetry);
    EXPECT_GE(packing.statistics.repairs, 24);
    EXPECT_LT(packing.statistics.repairs, 100) << "it went on to the end";
    EXPECT_EQ(packing.forest.max_height(), 2);
    EXPECT_EQ(least, 2);
  }
}

// The GPUs of a router take the same ways if one stands for all, and these are too few.
TEST(PackTrees, GivesEachRootItsOwnStarWhereImagesDoNotFit) {
  const auto [packing, least] = packed(test::dragonfly(6, 3, 3), true);
  EXPECT_EQ(packing.forest.max_height(), 1);
  EXPECT_EQ(least, 1);
  EXPECT_EQ(packing.forest.symmetry().size(), 1U);
}

}  // namespace
}  // namespace forestcoll
