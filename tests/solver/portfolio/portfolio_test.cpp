// One portfolio: no mode returns less than what another one knows under the same constraints.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "forestcoll/synthesize.hpp"
#include "solver/pack/fallback_forest.hpp"
#include "solver/portfolio/best_forest.hpp"
#include "support/fabrics.hpp"

namespace forestcoll {
namespace {

using Mode = TreesPerRoot::Mode;

constexpr std::int64_t kTreesTried = 6;

struct Sample {
  std::string name;
  Network network;
  std::optional<Rank> root;  ///< of a broadcast; else an allgather
};

std::vector<Sample> random_and_damaged() {
  std::vector<Sample> fabrics;
  for (std::uint64_t seed = 0; seed < 24; ++seed) {
    const Network network = test::random_fabric(
        seed, {.max_compute = 7, .one_way = seed % 3 == 1, .unbalanced = seed % 3 == 2});
    const std::optional<Rank> root =
        seed % 2 == 0 ? std::nullopt : std::optional(Rank(std::size_t{0}));
    fabrics.push_back({"random " + std::to_string(seed), network, root});
  }
  fabrics.push_back({"direct", test::direct_boxes(2, 4), {}});
  fabrics.push_back({"rails", test::h100_rails_alone(1, 2, 1), {}});
  fabrics.push_back({"jellyfish", test::one_percent_degraded(test::jellyfish(6, 1, 3, 2), 1), {}});
  return fabrics;
}

SynthesizeOptions asked(const Sample& fabric, Mode mode, std::int64_t k,
                        std::optional<std::int32_t> height) {
  SynthesizeOptions options{
      .collective = fabric.root ? Collective::broadcast : Collective::allgather,
      .root = fabric.root};
  options.trees_per_root = {mode, k};
  options.max_height = height;
  return options;
}

Ratio rate_of(const Sample& fabric, const SynthesizeOptions& options) {
  const auto found = synthesize(fabric.network, options);
  EXPECT_TRUE(found) << fabric.name;
  if (!found) return 0;
  const Forest& forest = *found->forest.broadcast;
  EXPECT_TRUE(!options.max_height || forest.max_height() <= *options.max_height) << fabric.name;
  return found->forest.algbw;
}

Ratio rate_of(const Sample& fabric, Mode mode, std::int64_t k, std::optional<std::int32_t> height) {
  return rate_of(fabric, asked(fabric, mode, k, height));
}

// The heights from the least to that of the forest that is found where none is asked for.
std::vector<std::int32_t> heights_of(const Sample& fabric) {
  const auto found = synthesize(fabric.network, asked(fabric, Mode::optimal, 0, {}));
  EXPECT_TRUE(found);
  const Weights weights =
      fabric.root ? single_root(fabric.network, *fabric.root) : uniform_weights(fabric.network);
  std::vector<std::int32_t> heights;
  for (std::int32_t height = height_lower_bound(fabric.network, weights);
       height <= found->forest.broadcast->max_height(); ++height) {
    heights.push_back(height);
  }
  return heights;
}

class Portfolio : public ::testing::Test {
 protected:
  static const std::vector<Sample>& fabrics() {
    static const std::vector<Sample> all = random_and_damaged();
    return all;
  }
};
using PortfolioLong = Portfolio;

TEST_F(PortfolioLong, NoNumberOfTreesBeatsTheModesThatMayTakeIt) {
  for (const Sample& fabric : fabrics()) {
    std::vector<std::optional<std::int32_t>> heights = {std::nullopt};
    for (const std::int32_t height : heights_of(fabric)) heights.emplace_back(height);
    for (const auto& height : heights) {
      const std::string where = fabric.name + ", height " + std::to_string(height.value_or(0));
      std::vector<Ratio> fixed = {0};
      for (std::int64_t k = 1; k <= kTreesTried; ++k) {
        fixed.push_back(rate_of(fabric, Mode::fixed, k, height));
        for (std::int64_t d = 1; d < k; ++d) {
          if (k % d != 0) continue;
          EXPECT_GE(fixed.back(), fixed[static_cast<std::size_t>(d)])
              << where << ": " << k << " trees, copies of " << d;
        }
      }
      const Ratio best = *std::max_element(fixed.begin(), fixed.end());
      EXPECT_GE(rate_of(fabric, Mode::best_up_to, kTreesTried, height), best) << where;
      EXPECT_GE(rate_of(fabric, Mode::optimal, 0, height), best) << where;
      EXPECT_GE(rate_of(fabric, Mode::power_of_two, kTreesTried, height),
                std::max({fixed[1], fixed[2], fixed[4]}))
          << where;
    }
  }
}

TEST_F(PortfolioLong, MoreHeightIsNeverSlowerAndTheTradeoffKnowsNoMore) {
  for (const Sample& fabric : fabrics()) {
    for (const auto& [mode, k] :
         {TreesPerRoot{Mode::optimal, 0}, {Mode::fixed, 3}, {Mode::best_up_to, kTreesTried}}) {
      const auto rows = rate_by_height(fabric.network, asked(fabric, mode, k, {}));
      ASSERT_TRUE(rows) << fabric.name;
      Ratio lower = 0;
      for (const std::int32_t height : heights_of(fabric)) {
        const Ratio rate = rate_of(fabric, mode, k, height);
        EXPECT_GE(rate, lower) << fabric.name << ", height " << height;
        lower = rate;
        Ratio row_rate = 0;
        for (const RateAtHeight& row : *rows) {
          if (row.height <= height) row_rate = std::max(row_rate, row.algbw);
        }
        EXPECT_EQ(rate, row_rate) << fabric.name << ", height " << height;
      }
      EXPECT_GE(rate_of(fabric, mode, k, {}), lower) << fabric.name;
    }
  }
}

TEST_F(PortfolioLong, MoreEffortIsNeverSlower) {
  for (const Sample& fabric : fabrics()) {
    for (const std::int32_t height : heights_of(fabric)) {
      SynthesizeOptions options = asked(fabric, Mode::best_up_to, kTreesTried, height);
      options.packing.effort = Effort::fast;
      const Ratio fast = rate_of(fabric, options);
      options.packing.effort = Effort::normal;
      EXPECT_GE(rate_of(fabric, options), fast) << fabric.name << ", height " << height;
    }
  }
}

// Of equal rates the lowest trees, and no higher ones because they are fewer.
TEST_F(PortfolioLong, EqualRatesTakeTheLowestTrees) {
  int lower = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Network network = test::random_fabric(seed, {.max_compute = 8, .one_way = seed % 2 == 1});
    const Sample fabric{"random " + std::to_string(seed), network, {}};
    const auto best = synthesize(network, asked(fabric, Mode::power_of_two, 8, {}));
    ASSERT_TRUE(best);
    bool first = true;
    for (const std::int64_t k : {1, 2, 4, 8}) {
      const auto found = synthesize(network, asked(fabric, Mode::fixed, k, {}));
      ASSERT_TRUE(found);
      if (found->forest.algbw != best->forest.algbw) continue;
      const std::int32_t height = found->forest.broadcast->max_height();
      EXPECT_LE(best->forest.broadcast->max_height(), height) << fabric.name << ", k = " << k;
      lower += first && best->forest.broadcast->max_height() < height ? 1 : 0;
      first = false;
    }
  }
  EXPECT_GT(lower, 0);  // than the first k of that rate
}

// Where nobody says how low, a limit on the height knows nothing lower that is as fast.
TEST_F(Portfolio, NothingLowerIsLeftThatIsAsFast) {
  test::FabricBuilder builder(7, 1);
  constexpr std::array<std::array<std::size_t, 3>, 13> kLinks = {{{0, 5, 10},
                                                                  {2, 0, 7},
                                                                  {7, 5, 7},
                                                                  {3, 2, 8},
                                                                  {6, 2, 3},
                                                                  {4, 0, 4},
                                                                  {1, 2, 10},
                                                                  {3, 0, 8},
                                                                  {7, 4, 7},
                                                                  {4, 2, 2},
                                                                  {3, 1, 5},
                                                                  {6, 5, 10},
                                                                  {3, 4, 10}}};
  for (const auto& [a, b, width] : kLinks) builder.link(a, b, static_cast<Capacity>(width));
  const Network network = builder.build();
  for (const Collective collective : {Collective::allgather, Collective::reduce_scatter}) {
    SynthesizeOptions options{.collective = collective};
    const auto best = synthesize(network, options);
    options.max_height = 3;
    const auto low = synthesize(network, options);
    ASSERT_TRUE(best && low);
    EXPECT_EQ(low->forest.algbw, best->forest.algbw);
    const CollectiveForest& forest = best->forest;
    EXPECT_EQ((forest.broadcast ? forest.broadcast : forest.reduce)->max_height(), 3);
  }
}

// With half of a NIC's way out gone, every box has to do without a little of what comes in, so that
// no link but those in the boxes has anything left. Packed root by root, trees are of four hops.
TEST_F(PortfolioLong, TreesStayLowWhereOneWayOutIsSlow) {
  Network network = test::dgx_a100(12);
  for (Capacity& capacity : network.capacity) capacity *= 2;
  const NodeId spine(network.ranks.size());  // the first switch
  ArcId slow(std::size_t{0});
  while (network.graph.head(slow) != spine) ++slow.value;
  network.capacity[slow] /= 2;
  const auto found = synthesize(network, {.collective = Collective::allgather});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->forest.algbw, found->forest.optimum);
  EXPECT_LE(found->forest.broadcast->max_height(), 3);
}

// Stopped while it packs for the nth time: what stood then is not thrown away.
TEST_F(PortfolioLong, AStopKeepsTheBestSoFar) {
  int kept = 0;
  for (const Sample& fabric : fabrics()) {
    const Weights weights =
        fabric.root ? single_root(fabric.network, *fabric.root) : uniform_weights(fabric.network);
    const Packing quick = solver::quick_forest(fabric.network, weights);
    for (const std::int32_t height : heights_of(fabric)) {
      Ratio before = 0;
      for (const int packings : {1, 3, 9, 27}) {
        std::stop_source source;
        int begun = 0;
        SynthesizeOptions options = asked(fabric, Mode::best_up_to, 16, height);
        options.answer_when_stopped = true;
        options.packing.stop = source.get_token();
        options.packing.progress = [&](std::string_view stage, std::optional<double> done) {
          if (stage == "packing" && done && ++begun >= packings) source.request_stop();
        };
        const auto found = synthesize(fabric.network, options);
        if (!found) {
          EXPECT_EQ(found.errors().front().code, Code::R01);
          EXPECT_EQ(before, Ratio(0)) << fabric.name << ": an answer was thrown away";
          EXPECT_GT(quick.forest.max_height(), height);
          continue;
        }
        EXPECT_LE(found->forest.broadcast->max_height(), height);
        EXPECT_GE(found->forest.algbw, before) << fabric.name << ", height " << height;
        before = found->forest.algbw;
        kept += found->stopped ? 1 : 0;
      }
    }
  }
  EXPECT_GT(kept, 0);
}

// Boxes of eight GPUs on a switch, and a switch for the NICs of each number; `dead` of the GPUs
// receive there and do not send.
Network boxes_on_rails(std::size_t boxes, std::size_t dead, std::uint64_t seed) {
  constexpr std::size_t kSize = 8;
  const std::size_t ranks = boxes * kSize;
  std::mt19937_64 chance(seed);
  std::set<std::size_t> silent;
  while (silent.size() < dead) silent.insert(chance() % ranks);
  test::FabricBuilder fabric(ranks, kSize + boxes);
  for (std::size_t v = 0; v < ranks; ++v) {
    const std::size_t rail = ranks + v % kSize;
    fabric.link(v, ranks + kSize + v / kSize, 12);
    fabric.arc(rail, v, 1);
    if (!silent.contains(v)) fabric.arc(v, rail, 1);
  }
  return fabric.build();
}

CollectiveForest in_trees_of(const Network& network, const Ratio& algbw) {
  auto found = synthesize(network, {.collective = Collective::allgather});
  CollectiveForest forest = std::move(found->forest);
  forest.algbw = algbw;
  return forest;
}

// By heights 2, 3 and 4.
TEST_F(Portfolio, AQuarterOfTheHeightIsWorthOnePercentAmongPowersOfTwo) {
  const auto of_height = [](std::size_t height, const Ratio& algbw) {
    return in_trees_of(test::torus({2 * height + 1}), algbw);
  };
  const auto is_preferred = solver::is_preferred;
  ASSERT_EQ(solver::height_of(of_height(3, 1)), 3);
  const CollectiveForest high = of_height(4, 100);
  EXPECT_TRUE(is_preferred(of_height(3, 99), high, Mode::power_of_two));
  EXPECT_FALSE(is_preferred(high, of_height(3, 99), Mode::power_of_two));
  EXPECT_FALSE(is_preferred(of_height(3, {989, 10}), high, Mode::power_of_two));
  EXPECT_TRUE(is_preferred(high, of_height(3, {989, 10}), Mode::power_of_two));
  EXPECT_FALSE(is_preferred(of_height(4, 99), of_height(5, 100), Mode::power_of_two));
  for (const Mode mode : {Mode::optimal, Mode::fixed, Mode::best_up_to}) {
    EXPECT_FALSE(is_preferred(of_height(2, 99), high, mode));
    EXPECT_TRUE(is_preferred(of_height(2, 100), high, mode));
  }
}

// What was given up is said, and is to be had by asking for it.
TEST_F(PortfolioLong, AFasterForestThatIsGivenUpIsNamed) {
  int given_up = 0;
  for (const std::uint64_t seed : {1, 3}) {
    const Network network = boxes_on_rails(16, 3, seed);
    SynthesizeOptions options{.trees_per_root = {Mode::power_of_two, 16}};
    options.collective = Collective::allgather;
    const auto open = synthesize(network, options);
    ASSERT_TRUE(open) << seed;
    if (!open->given_up) continue;
    ++given_up;
    const auto& other = *open->given_up;
    EXPECT_LT(open->forest.algbw, other.algbw) << seed;
    EXPECT_GE(share(open->forest.algbw, other.algbw), 0.99) << seed;
    EXPECT_LT(solver::height_of(open->forest), other.height) << seed;
    options.trees_per_root = {Mode::fixed, other.k};
    const auto fixed = synthesize(network, options);
    ASSERT_TRUE(fixed) << seed;
    EXPECT_GE(fixed->forest.algbw, other.algbw) << seed;
    EXPECT_FALSE(fixed->given_up) << seed;
  }
  EXPECT_GT(given_up, 0);
}

}  // namespace
}  // namespace forestcoll
