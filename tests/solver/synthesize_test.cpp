// The facade: every collective on symmetric and one-way fabrics reaches its bound.
#include "forestcoll/synthesize.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "forestcoll/allreduce.hpp"
#include "support/fabrics.hpp"
#include "support/oracles.hpp"

namespace forestcoll {
namespace {

constexpr Collective kAll[] = {Collective::allgather, Collective::reduce_scatter,
                               Collective::allreduce, Collective::broadcast, Collective::reduce};

SynthesizeOptions options_for(Collective collective) {
  SynthesizeOptions options;
  options.collective = collective;
  if (is_rooted(collective)) options.root = Rank(1);
  return options;
}

std::pair<std::int32_t, std::size_t> height_and_trees(const CollectiveForest& forest) {
  std::pair<std::int32_t, std::size_t> result;
  for (const auto* phase : {&forest.reduce, &forest.broadcast}) {
    if (!*phase) continue;
    result.first = std::max(result.first, (*phase)->max_height());
    result.second += (*phase)->tree_count();
  }
  return result;
}

// Another number of trees than the least one of whole capacities is taken for lower trees, or for
// fewer ones of that height.
void expect_least_number_or_lower(const Network& network, SynthesizeOptions options,
                                  const Synthesis& synthesis, std::int64_t least) {
  if (synthesis.forest.k == least) return;
  options.trees_per_root = {TreesPerRoot::Mode::fixed, least};
  const auto fixed = synthesize(network, options);
  ASSERT_TRUE(fixed);
  EXPECT_LE(height_and_trees(synthesis.forest), height_and_trees(fixed->forest));
}

TEST(SynthesizeLong, ReachesTheBoundForEveryCollective) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const Network network = test::random_fabric(seed, {.one_way = seed % 2 == 1});
    for (const Collective collective : kAll) {
      auto options = options_for(collective);
      options.at_once = false;
      const auto synthesis = synthesize(network, options);
      const auto best = bound(network, collective, options.root);
      ASSERT_TRUE(synthesis && best) << "seed " << seed;
      EXPECT_EQ(synthesis->forest.algbw, best->algbw) << "seed " << seed << to_string(collective);
      EXPECT_EQ(synthesis->forest.optimum, best->algbw);
      expect_least_number_or_lower(network, options, *synthesis, best->k);
      EXPECT_EQ(synthesis->forest.broadcast.has_value(),
                collective != Collective::reduce_scatter && collective != Collective::reduce);
      EXPECT_EQ(synthesis->forest.reduce.has_value(),
                collective != Collective::allgather && collective != Collective::broadcast);
    }
  }
}

TEST(Synthesize, ReduceForestsAreSoundOnTheReversedNetwork) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Network network = test::random_fabric(seed, {.one_way = true});
    const auto synthesis = synthesize(network, options_for(Collective::reduce_scatter));
    ASSERT_TRUE(synthesis);
    ASSERT_TRUE(synthesis->forest.reduce->is_in_forest());
    const Network backward = reversed(network);
    const Scaling scaling{
        synthesis->forest.k, synthesis->reduce_rate->inverse * Ratio(synthesis->forest.k), {}};
    EXPECT_EQ(test::find_forest_flaw(backward, uniform_weights(network), scaling,
                                     synthesis->forest.reduce->reversed()),
              "")
        << "seed " << seed;
  }
}

TEST(SynthesizeLong, SaysWhereUnbalancedSwitchesCostRate) {
  int raised = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Network network = test::random_fabric(seed, {.max_compute = 7, .unbalanced = true});
    for (const Collective collective : {Collective::allgather, Collective::broadcast}) {
      const auto synthesis = synthesize(network, options_for(collective));
      ASSERT_TRUE(synthesis) << "seed " << seed;
      EXPECT_EQ(synthesis->raised, synthesis->forest.algbw < synthesis->forest.optimum)
          << "seed " << seed;
      raised += synthesis->raised;
    }
  }
  EXPECT_LE(raised, 10);
  EXPECT_FALSE(synthesize(test::dgx_a100(2), options_for(Collective::allgather))->raised);
}

TEST(Synthesize, KnownAllreduce) {
  const auto synthesis = synthesize(test::dgx_a100(2), options_for(Collective::allreduce));
  ASSERT_TRUE(synthesis);
  EXPECT_EQ(synthesis->forest.algbw, Ratio(520, 3));
}

TEST(Synthesize, SearchesOverK) {
  SynthesizeOptions options = options_for(Collective::allgather);
  options.trees_per_root = {TreesPerRoot::Mode::best_up_to, 16};
  auto synthesis = synthesize(test::dgx_a100(2), options);
  ASSERT_TRUE(synthesis);
  EXPECT_EQ(synthesis->forest.k, 13);
  EXPECT_EQ(synthesis->tradeoff.size(), 16u);
  EXPECT_EQ(synthesis->tradeoff[0].algbw, Ratio(2400, 7));

  options.trees_per_root = {TreesPerRoot::Mode::power_of_two, 16};
  synthesis = synthesize(test::dgx_a100(2), options);
  ASSERT_TRUE(synthesis);
  EXPECT_EQ(synthesis->tradeoff.size(), 5u);
  for (const RateAtK& row : synthesis->tradeoff) EXPECT_LE(row.algbw, synthesis->forest.algbw);

  // The rows are rates of the collective, also where both phases share one forest.
  options.collective = Collective::allreduce;
  synthesis = synthesize(test::dgx_a100(2), options);
  ASSERT_TRUE(synthesis);
  EXPECT_EQ(synthesis->tradeoff[0].algbw, Ratio(1200, 7));
  options.collective = Collective::allgather;

  options.trees_per_root = {TreesPerRoot::Mode::fixed, 5};
  synthesis = synthesize(test::dgx_a100(2), options);
  ASSERT_TRUE(synthesis);
  EXPECT_EQ(synthesis->forest.k, 5);
  EXPECT_EQ(synthesis->forest.algbw, Ratio(2400, 7));
  EXPECT_TRUE(synthesis->tradeoff.empty());
}

TEST(SynthesizeLong, FixedKIsKeptAndClaimedExactly) {
  for (std::uint64_t seed = 0; seed < 70; ++seed) {
    const Network network = test::random_fabric(
        seed, {.max_switches = 5, .one_way = true, .unbalanced = seed % 2 == 0});
    for (const Collective collective : kAll) {
      for (const std::int64_t k : {1, 3, 6}) {
        auto options = options_for(collective);
        options.at_once = false;  // where roots may have other numbers of trees
        options.trees_per_root = {TreesPerRoot::Mode::fixed, k};
        const auto synthesis = synthesize(network, options);
        ASSERT_TRUE(synthesis) << "seed " << seed;
        EXPECT_EQ(synthesis->forest.k, k);
        EXPECT_LE(synthesis->forest.algbw, synthesis->forest.optimum);
        options.trees_per_root = {TreesPerRoot::Mode::best_up_to, k};
        EXPECT_LE(synthesize(network, options)->forest.k, k) << "seed " << seed;
      }
    }
  }
}

TEST(Synthesize, ReachesAnOptimumOfLargeNumbers) {
  // Two one-way cycles with large coprime capacities: the allreduce rate of one phase after the
  // other is a fraction of their products, and so are the vertices of both at once.
  test::FabricBuilder builder(3);
  builder.arc(0, 1, 4'000'000'007);
  builder.arc(1, 2, 3'999'999'979);
  builder.arc(2, 0, 3'999'999'959);
  builder.arc(0, 2, 3'999'999'931);
  builder.arc(2, 1, 17);
  builder.arc(1, 0, 3'999'999'893);
  const Network network = builder.build();
  const auto synthesis = synthesize(network, options_for(Collective::allreduce));
  const auto proved = allreduce_optimum(network);
  ASSERT_TRUE(synthesis && proved);
  EXPECT_EQ(synthesis->forest.optimum, proved->upper);
  EXPECT_EQ(synthesis->forest.algbw, proved->upper);
}

}  // namespace
}  // namespace forestcoll
