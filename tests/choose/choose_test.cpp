// Which forest a schedule is made of, where nobody asks for a number of trees.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <stop_token>
#include <string>

#include "forestcoll/compile.hpp"
#include "forestcoll/generate.hpp"
#include "forestcoll/topology_text.hpp"
#include "forestcoll/verify.hpp"
#include "support/topology_of.hpp"

namespace forestcoll {
namespace {

using ::testing::HasSubstr;

CompileOptions options_of(Collective collective, Format format) {
  CompileOptions options;
  options.synthesis.collective = collective;
  if (is_rooted(collective)) options.synthesis.root = Rank(std::size_t{0});
  options.format = format;
  return options;
}

// What nobody says is the target's: RCCL's GPUs hold fewer threadblocks than NVIDIA's.
TEST(CompileLong, ThreadblocksAreThoseOfTheTarget) {
  const Fabric fabric = test::bundled_fabric("mi250-x1");
  CompileOptions options = options_of(Collective::allgather, Format::msccl);
  options.lowering.target = "rccl-6.3";
  const auto by_target = compile(fabric, options);
  ASSERT_TRUE(by_target);
  EXPECT_TRUE(by_target->verdict.ok);
  EXPECT_EQ(by_target->options.sms, 104);
  EXPECT_EQ(by_target->options.lowering.max_threadblocks, 104);
  options.sms = 40;
  const auto fewer = compile(fabric, options);
  ASSERT_TRUE(fewer);
  EXPECT_TRUE(fewer->verdict.ok);
  EXPECT_LE(fewer->verdict.threadblocks, 40);
}

// Without a number of trees, forests have as many as reach the optimum, schedules a power of two.
TEST(Compile, TheNumberOfTreesSuitsTheFormat) {
  const Fabric fabric = test::bundled_fabric("dgx-a100-x2");
  const auto k_of = [&](Format format) {
    const auto made = compile(fabric, options_of(Collective::allgather, format));
    return made ? made->chosen.synthesis.forest.k : 0;
  };
  EXPECT_EQ(k_of(Format::forest), 13);
  EXPECT_EQ(k_of(Format::none), 13);
  EXPECT_EQ(k_of(Format::mscclpp), 8);
}

TEST(ChooseForestLong, AStopEndsTheModelAndNotTheChoice) {
  const Fabric fabric = test::bundled_fabric("mi250-x1");
  CompileOptions options = options_of(Collective::allgather, Format::msccl);
  const auto with_time = choose_forest(fabric, options);
  ASSERT_TRUE(with_time);
  EXPECT_THAT(with_time->why, HasSubstr("simulated"));

  std::stop_source source;
  options.synthesis.packing.stop = source.get_token();
  options.synthesis.packing.progress = [&](std::string_view stage, std::optional<double>) {
    if (stage == "choosing k by the model") source.request_stop();
  };
  options.synthesis.answer_when_stopped = true;
  const auto chosen = choose_forest(fabric, options);
  ASSERT_TRUE(chosen);
  EXPECT_THAT(chosen->why, HasSubstr("as time was up for the model"));
  EXPECT_TRUE(chosen->schedule);
  EXPECT_FALSE(chosen->synthesis.stopped);
}

// A previous forest is no reason to look at fewer numbers of trees.
TEST(ChooseForestLong, TakesAsManyTreesWithAPreviousForest) {
  const Fabric fabric = test::bundled_fabric("mi250-x1");
  CompileOptions options = options_of(Collective::allgather, Format::forest);
  options.tree_count = TreeCount::chosen;
  const auto cold = choose_forest(fabric, options);
  ASSERT_TRUE(cold);
  EXPECT_GT(cold->synthesis.forest.k, 16);
  const CollectiveForest previous = cold->synthesis.forest;
  options.synthesis.previous = &previous;
  const auto warm = choose_forest(fabric, options);
  ASSERT_TRUE(warm);
  EXPECT_EQ(warm->synthesis.forest.algbw, cold->synthesis.forest.algbw);
  EXPECT_GT(warm->synthesis.repack->kept, 0);
}

TEST(ChooseForestLong, PlansGetMoreThanSixteenTreesWhereThatGains) {
  const Fabric fabric = test::bundled_fabric("dgx-1-v100");
  CompileOptions options = options_of(Collective::broadcast, Format::mscclpp);
  const auto chosen = choose_forest(fabric, options);
  ASSERT_TRUE(chosen);
  options.tree_count = TreeCount::as_given;
  options.synthesis.trees_per_root = {TreesPerRoot::Mode::power_of_two, 16};
  const auto sixteen = choose_forest(fabric, options);
  ASSERT_TRUE(sixteen);
  EXPECT_GT(chosen->synthesis.forest.k, 16);
  EXPECT_GE(chosen->synthesis.forest.algbw, sixteen->synthesis.forest.algbw * Ratio(21, 20));
  EXPECT_TRUE(compile_forest(fabric, *chosen, options)->verdict.ok);
}

// The trees of the highest rate have more steps than a rank loads; those of one per root fit.
TEST(ChooseForestLongest, FewerTreesWhereMoreDoNotFit) {
  const Fabric fabric = test::bundled_fabric("torus-8x8x8");
  CompileOptions options = options_of(Collective::allgather, Format::msccl);
  const auto chosen = choose_forest(fabric, options);
  ASSERT_TRUE(chosen);
  EXPECT_TRUE(chosen->schedule);
  options.synthesis.trees_per_root = {TreesPerRoot::Mode::fixed, 16};
  options.tree_count = TreeCount::as_given;
  const auto sixteen = choose_forest(fabric, options);
  ASSERT_TRUE(sixteen);
  EXPECT_FALSE(sixteen->schedule);
  EXPECT_LT(chosen->synthesis.forest.k, 16);
}

// More trees are faster, and more than the checker reads where they are written one by one.
TEST(ChooseForestLong, FewerTreesWhereTheTextOfMoreIsRefused) {
  const auto document = generate("torus", {{"dims", "16x16x16"}});
  ASSERT_TRUE(document);
  const std::string text = to_topology_json(*document);
  auto parsed = parse_topology(text, "torus");
  ASSERT_TRUE(parsed);
  const auto fabric = make_fabric(std::move(parsed->topology), metadata_of(text));
  ASSERT_TRUE(fabric);
  const auto chosen = [&](Format format) {
    CompileOptions options = options_of(Collective::allgather, format);
    options.tree_count = TreeCount::chosen;
    return choose_forest(*fabric, options);
  };
  const auto by_image = chosen(Format::none), one_by_one = chosen(Format::forest);
  ASSERT_TRUE(by_image && one_by_one);
  EXPECT_EQ(by_image->synthesis.forest.k, 2);
  const CollectiveForest& written = one_by_one->synthesis.forest;
  EXPECT_EQ(written.k, 1);
  EXPECT_LE(static_cast<std::int64_t>(edge_count(written)), kMaxForestEdges);
  // As fast as so few are.
  const auto row = std::ranges::find(by_image->synthesis.tradeoff, 1, &RateAtK::k);
  ASSERT_NE(row, by_image->synthesis.tradeoff.end());
  EXPECT_EQ(written.algbw, row->algbw);
}

}  // namespace
}  // namespace forestcoll
