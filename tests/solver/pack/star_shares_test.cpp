// Shares of the roots of an allreduce's flat trees.
#include "solver/pack/star_shares.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "forestcoll/allreduce.hpp"
#include "solver/common/core.hpp"
#include "support/fabrics.hpp"

namespace forestcoll {
namespace {

using solver::StarShares;

StarShares shares_of(const Network& network) {
  return StarShares(solver::make_core(network, network.capacity));
}

std::int64_t sum(const Weights& trees) {
  return std::accumulate(trees.begin(), trees.end(), std::int64_t{0});
}

// GB/s, as far as the ways out of boxes allow it.
Ratio rate(const Network& network, const StarShares& shares, const Weights& trees) {
  return Ratio(sum(trees)) / shares.scale(trees) * network.unit;
}

TEST(StarShares, RanksThatAreAlikeRootAlike) {
  const Network network = test::dgx_a100(6);
  const StarShares shares = shares_of(network);
  ASSERT_TRUE(shares.has_choice());
  for (const std::int64_t k : {1, 3}) {
    for (const std::int64_t trees : shares.trees(k)) EXPECT_EQ(trees, k);
  }
}

// By definition: the root sends to the GPU at its own place of each other box. A GPU that roots
// nothing or has no way out gives its part to others of its box.
TEST(StarShares, ScalesByWhatIsLoadedTheMost) {
  constexpr std::size_t kBoxes = 9;
  const Network network = test::h100_rails_alone(kBoxes, 4, 2);
  const StarShares shares = shares_of(network);
  for (const std::int64_t k : {1, 2, 7}) {
    const Weights trees = shares.trees(k);
    Ratio most = 0;
    for (std::size_t box = 0; box < kBoxes; ++box) {
      std::int64_t load_of_box = 0, leaving = 0;
      for (std::size_t place = 0; place < 8; ++place) {
        const Rank gpu(8 * box + place);
        std::int64_t load = 0;
        for (std::size_t other = 0; other < kBoxes; ++other) {
          load += trees[Rank(8 * other + place)] * (other == box ? kBoxes - 1 : 1);
        }
        load_of_box += load;
        const ArcId nic =
            network.graph.find(network.ranks[gpu.index()], NodeId(9 * kBoxes + place));
        if (!nic.valid()) continue;
        leaving += network.capacity[nic];
        if (trees[gpu] > 0) most = std::max(most, Ratio(load, network.capacity[nic]));
      }
      most = std::max(most, Ratio(load_of_box, leaving));
    }
    EXPECT_EQ(shares.scale(trees), most) << "k = " << k;
  }
}

// With many trees nearly as good as the optimum, and equal shares are not.
TEST(StarShares, BoxesWithANarrowWayOutRootFewer) {
  for (const Network& network :
       {test::one_percent_degraded(test::dgx_a100(12), 3), test::h100_rails_alone(12, 3, 1)}) {
    const StarShares shares = shares_of(network);
    ASSERT_TRUE(shares.has_choice());
    const Ratio optimum = allreduce_optimum(network, {}, {.classes = 0})->upper;
    const Ratio reached = rate(network, shares, shares.trees(128));
    EXPECT_LE(reached, optimum);
    EXPECT_GE(share(reached, optimum), 0.98);
    EXPECT_LT(rate(network, shares, uniform_weights(network)), reached);
  }
}

// Three groups of three, one tree of each rank: 3 + 9 by the ways out of a group, and each rank
// gets as much by its group's switch as it passes on there, 36 in all.
TEST(StarShares, ScalesByLinksInsideWhereTheyAreNarrow) {
  const auto scale = [](Capacity inside, Capacity out) {
    test::FabricBuilder builder(9, 4);
    for (std::size_t v = 0; v < 9; ++v) {
      builder.link(v, 9 + v / 3, inside);
      builder.link(v, 12, out);
    }
    const StarShares shares = shares_of(builder.build());
    return shares.has_choice() ? shares.scale(shares.trees(1)) : Ratio(0);
  };
  EXPECT_EQ(scale(20, 1), Ratio(4));
  EXPECT_EQ(scale(4, 3), Ratio(3));
}

TEST(StarShares, TwoGroupsHaveNoChoice) {
  EXPECT_FALSE(shares_of(test::dgx_a100(1)).has_choice());
  EXPECT_FALSE(shares_of(test::dgx_a100(2)).has_choice());
}

}  // namespace
}  // namespace forestcoll
