// The forest that is made at once, and the facade that takes it when it is stopped.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <stop_token>
#include <string_view>

#include "forestcoll/synthesize.hpp"
#include "solver/pack/fallback_forest.hpp"
#include "support/fabrics.hpp"
#include "support/oracles.hpp"

namespace forestcoll {
namespace {

std::map<std::pair<NodeId, NodeId>, std::int64_t> loads(const Forest& forest) {
  std::map<std::pair<NodeId, NodeId>, std::int64_t> load;
  for (std::size_t t = 0; t < forest.tree_count(); ++t) {
    for (std::size_t v = 0; v < forest.rank_count(); ++v) {
      if (Rank(v) == forest.tree(TreeId(t)).root) continue;
      const auto path = forest.path(TreeId(t), Rank(v));
      for (std::size_t i = 0; i + 1 < path.size(); ++i) {
        load[{path[i], path[i + 1]}] += forest.tree(TreeId(t)).multiplicity;
      }
    }
  }
  return load;
}

// The scale is exactly what the most loaded arc needs.
void expect_tight(const Network& network, const Packing& packing) {
  Ratio scale = 0;
  for (const auto& [ends, load] : loads(packing.forest)) {
    for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
      const Arc arc = network.graph.arcs()[a];
      if (arc == Arc{ends.first, ends.second}) {
        scale = std::max(scale, Ratio(load, network.capacity[ArcId(a)]));
      }
    }
  }
  EXPECT_EQ(packing.scaling.scale, scale);
}

TEST(QuickForest, IsAForestAtTheRateThatItClaims) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Network network = test::random_fabric(
        seed, {.max_compute = 8, .one_way = seed % 3 == 1, .unbalanced = seed % 3 == 2});
    Weights weights = uniform_weights(network);
    for (std::size_t r = 0; r < weights.size() && seed % 2 == 0; ++r) {
      weights[Rank(r)] = static_cast<std::int64_t>((seed + r) % 3);
    }
    if (seed % 2 == 0) weights[Rank(std::size_t{0})] = 2;
    const Packing packing = solver::quick_forest(network, weights);
    EXPECT_EQ(test::find_forest_flaw(network, weights, packing.scaling, packing.forest), "")
        << seed;
    expect_tight(network, packing);
  }
}

TEST(QuickForest, IsMadeOfImagesWhereThatIsBetterOrMuchFaster) {
  for (const Network& network : {test::dgx_a100(3), test::h100_rails(3, 1), test::fat_tree(4)}) {
    const Weights weights = uniform_weights(network);
    const Packing packing = solver::quick_forest(network, weights);
    EXPECT_LT(packing.forest.base_trees().size(), packing.forest.tree_count());
    EXPECT_EQ(test::find_forest_flaw(network, weights, packing.scaling, packing.forest), "");
    expect_tight(network, packing);
  }
  const Network large = test::torus({64, 64});
  const Packing packing = solver::quick_forest(large, uniform_weights(large));
  EXPECT_EQ(packing.forest.tree_count(), 4096U);
  EXPECT_LT(packing.forest.base_trees().size(), 8U);
}

TEST(QuickForest, RootsThatNothingMovesAddToTheLoadsOfImages) {
  // Five alike on a switch, and two with links of their own to each of them.
  test::FabricBuilder builder(7, 1);
  for (std::size_t r = 0; r < 5; ++r) {
    builder.link(r, 7, 4);
    builder.link(r, 5, 1);
    builder.link(r, 6, 1);
  }
  const Network network = builder.build();
  Weights weights = uniform_weights(network);
  weights[Rank(std::size_t{5})] = 3;
  weights[Rank(std::size_t{6})] = 9;
  const Packing packing = solver::quick_forest(network, weights);
  EXPECT_EQ(test::find_forest_flaw(network, weights, packing.scaling, packing.forest), "");
  EXPECT_TRUE(packing.forest.has_images(packing.forest.base_trees().front()));
  expect_tight(network, packing);
}

TEST(QuickForest, IsNotFarFromTheOptimumOnEasyFabrics) {
  for (const Network& network : {test::dgx_a100(4), test::torus({4, 4}), test::fat_tree(4)}) {
    const Weights weights = uniform_weights(network);
    const Packing packing = solver::quick_forest(network, weights);
    const Ratio best = optimal_rate(network, weights).inverse;
    EXPECT_LE(packing.scaling.scale, Ratio(2) * best);
  }
}

TEST(QuickForest, ServesOneRootToo) {
  const Network network = test::h100_rails(2, 2);
  const Weights weights = single_root(network, Rank(5));
  const Packing packing = solver::quick_forest(network, weights);
  EXPECT_EQ(packing.forest.tree_count(), 1u);
  EXPECT_EQ(test::find_forest_flaw(network, weights, packing.scaling, packing.forest), "");
}

SynthesizeOptions stopped_at_once(Collective collective) {
  std::stop_source source;
  source.request_stop();
  SynthesizeOptions options;
  options.collective = collective;
  options.packing.stop = source.get_token();
  options.answer_when_stopped = true;
  return options;
}

TEST(Stopped, TheAnswerSoFarIsAQuickForest) {
  const Network network = test::dgx_a100(2);
  for (const Collective collective :
       {Collective::allgather, Collective::reduce_scatter, Collective::allreduce}) {
    const auto synthesis = synthesize(network, stopped_at_once(collective));
    ASSERT_TRUE(synthesis);
    EXPECT_TRUE(synthesis->stopped);
    EXPECT_FALSE(synthesis->raised);
    EXPECT_LT(synthesis->forest.algbw, synthesis->forest.optimum);
    EXPECT_GT(synthesis->forest.algbw, Ratio(0));
  }
}

// Asked to stop when nearly all trees are packed: what is packed then is kept where it is faster.
TEST(Stopped, APackingIsFinishedAtOnce) {
  int kept = 0;
  for (const Network& network : {test::mi250(2), test::mi250(4), test::direct_boxes(2, 8)}) {
    std::stop_source source;
    SynthesizeOptions options;
    options.collective = Collective::allgather;
    options.packing = {.progress =
                           [&](std::string_view stage, std::optional<double> fraction) {
                             if (stage == "packing" && fraction && *fraction > 0.95) {
                               source.request_stop();
                             }
                           },
                       .stop = source.get_token(),
                       .symmetry = false};
    options.answer_when_stopped = true;
    const auto synthesis = synthesize(network, options);
    ASSERT_TRUE(synthesis);
    if (!synthesis->stopped) continue;  // all were packed
    const Weights weights = uniform_weights(network);
    const CollectiveForest& forest = synthesis->forest;
    const auto ranks = static_cast<std::int64_t>(network.ranks.size());
    const Ratio scale = Ratio(ranks * forest.k) * network.unit / forest.algbw;
    EXPECT_EQ(test::find_forest_flaw(network, weights, {forest.k, scale, {}}, *forest.broadcast),
              "");
    const Ratio quick = solver::quick_forest(network, weights).scaling.scale;
    EXPECT_LE(scale / Ratio(forest.k), quick);
    kept += scale / Ratio(forest.k) < quick ? 1 : 0;

    options.answer_when_stopped = false;
    const auto refused = synthesize(network, options);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.errors().front().code, Code::R01);
  }
  EXPECT_GT(kept, 0);
}

TEST(Stopped, KIsWhatWasAskedFor) {
  const Network network = test::dgx_a100(2);
  SynthesizeOptions options = stopped_at_once(Collective::allgather);
  options.trees_per_root = {TreesPerRoot::Mode::fixed, 6};
  const auto synthesis = synthesize(network, options);
  ASSERT_TRUE(synthesis);
  EXPECT_EQ(synthesis->forest.k, 6);
  const Ratio scale = Ratio(16 * 6) * network.unit / synthesis->forest.algbw;
  EXPECT_EQ(test::find_forest_flaw(network, uniform_weights(network), {6, scale, {}},
                                   *synthesis->forest.broadcast),
            "");
}

TEST(Stopped, ASearchOverKThatHasNotBegunGivesAnAnswerToo) {
  SynthesizeOptions options = stopped_at_once(Collective::allgather);
  options.trees_per_root = {TreesPerRoot::Mode::best_up_to, 10'000};
  const auto synthesis = synthesize(test::dgx_a100(2), options);
  ASSERT_TRUE(synthesis);
  EXPECT_TRUE(synthesis->stopped);
  EXPECT_TRUE(synthesis->tradeoff.empty());
  EXPECT_EQ(synthesis->forest.k, 1);
}

TEST(Stopped, WithoutTheOptimumThereIsNoForestButABound) {
  const Network network = test::torus_with_narrow_corner();
  const SynthesizeOptions options = stopped_at_once(Collective::allreduce);
  const std::vector<Diagnostics> refusals = {
      synthesize(network, options).errors(), rate_by_height(network, options).errors(),
      rate_by_k(network, Collective::allreduce, {}, 4, options.packing.stop).errors()};
  for (const Diagnostics& errors : refusals) {
    EXPECT_EQ(errors.front().code, Code::R01);
    EXPECT_EQ(errors.front().kind, ErrorKind::stopped);
    EXPECT_EQ(errors.front().message,
              "asked to stop before the optimal rate was known: a cut proves that it is 5120/1023 "
              "GB/s at most; whether it is less is open, and there is no forest");
  }
}

}  // namespace
}  // namespace forestcoll
