// Forests that are low enough, squeezed: they need less, and stay forests.
#include "solver/pack/search/squeeze.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "forestcoll/synthesize.hpp"
#include "solver/pack/search/max_height.hpp"
#include "support/fabrics.hpp"
#include "support/oracles.hpp"

namespace forestcoll {
namespace {

// Per tree and root.
Ratio time_of(const Packing& packing) {
  return packing.scaling.scale / Ratio(packing.scaling.k);
}

TEST(Squeeze, NeedsNoMoreStaysLowAndKeepsItsTrees) {
  int better = 0, copies_better = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Network network =
        test::random_fabric(seed, {.max_compute = 12, .max_switches = 6, .one_way = seed % 3 == 1});
    const Weights weights = uniform_weights(network);
    const Rate rate = optimal_rate(network, weights);
    const Scaling optimal = scale_to_optimum(network, rate);
    const Ratio best = optimal.scale / Ratio(optimal.k);
    const auto one = scale_to_k(network, weights, rate, 1);
    ASSERT_TRUE(one);
    // At four times the scale trees are low, and much is left.
    const Ratio wide = one->scale * Ratio(4);
    Scaling loose{1, wide, {}};
    for (const Capacity capacity : network.capacity) {
      loose.capacity.push_back(wide.num() * capacity / wide.den());
    }
    const auto packing = pack(network, weights, loose);
    ASSERT_TRUE(packing);
    const std::int32_t height = packing->forest.max_height();
    const std::string where = "seed " + std::to_string(seed);
    Ratio whole = time_of(*packing);
    for (const std::int64_t copies : {1, 6}) {
      const Ratio least = best * Ratio(copies);
      const Packing squeezed = solver::squeeze(network, *packing, copies, least, height, {});
      EXPECT_EQ(squeezed.scaling.k, copies) << where;
      EXPECT_LE(squeezed.forest.max_height(), height) << where;
      EXPECT_LE(time_of(squeezed), time_of(*packing)) << where;
      EXPECT_GE(squeezed.scaling.scale, least) << where;
      EXPECT_EQ(test::find_forest_flaw(network, weights, squeezed.scaling, squeezed.forest), "")
          << where;
      better += time_of(squeezed) < time_of(*packing) ? 1 : 0;
      copies_better += copies > 1 && time_of(squeezed) < whole ? 1 : 0;
      whole = std::min(whole, time_of(squeezed));
    }
  }
  EXPECT_GT(better, 30);
  EXPECT_GT(copies_better, 0);
}

TEST(Squeeze, EndsWhereItIsStopped) {
  std::stop_source source;
  source.request_stop();
  const Network network = test::dgx_a100(2);
  const Weights weights = uniform_weights(network);
  const auto packing =
      pack(network, weights, scale_to_optimum(network, optimal_rate(network, weights)));
  ASSERT_TRUE(packing);
  const Packing same = solver::squeeze(network, *packing, 2, Ratio(0), packing->forest.max_height(),
                                       source.get_token());
  EXPECT_EQ(time_of(same), time_of(*packing));
}

}  // namespace
}  // namespace forestcoll
