// What `forestcoll synth` chooses by itself: the number of trees, by rate and by the model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/batch.hpp"
#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

// Sixteen equal trees lose 1.8 % here; 32 chunks on three trees lose 0.4 %.
TEST(SynthChoiceLong, FinerChunksWhereTreesAreUneven) {
  const Scratch scratch;
  const auto forest = nlohmann::json::parse(run({"synth", topology("mi250-x1"), "--json", "-o",
                                                 scratch / "x", "--format", "forest", "-k", "auto"})
                                                .out);
  EXPECT_EQ(forest["k"], 32);
  EXPECT_EQ(forest["algbw"]["exact"], "512/3");
  EXPECT_EQ(forest["tradeoff"].back()["k"], 32);
  EXPECT_FALSE(forest.contains("chosen"));
}

// Eight trees per root carry 0.9 % more over the links, and their schedule is slower.
TEST(SynthChoiceLong, TheModelHasTheLastWordOnTheNumberOfChunks) {
  const Scratch scratch;
  const std::string fabric = topology("dgx-a100-x2");
  const auto synth = [&](const std::vector<std::string>& more) {
    return nlohmann::json::parse(
        run(joined({"synth", fabric, "--json", "-o", scratch / "x"}, with_trees(more))).out);
  };
  const auto seconds = [&] {
    const auto simulated = run({"simulate", scratch / "x", fabric, "--sizes", "1G", "--json"});
    return nlohmann::json::parse(simulated.out)["times"][0]["simulated_seconds"].get<double>();
  };
  EXPECT_EQ(synth({"-k", "8"})["k"], 8);
  const double of_eight = seconds();
  const auto schedule = synth({});
  EXPECT_EQ(schedule["k"], 1);
  EXPECT_THAT(schedule["chosen"].get<std::string>(), HasSubstr("simulated: k = 1 "));
  EXPECT_LT(seconds(), of_eight);
}

// Merged threadblocks wait for one another: the choice has to see that as `simulate` does.
TEST(SynthChoiceLong, ChoosesByWhatSimulateSays) {
  const Scratch scratch;
  const std::string fabric = topology("dgx-1-v100");
  const auto synth = run({"synth", "-k", "auto", fabric, "--json", "-o", scratch / "x"});
  const auto schedule = nlohmann::json::parse(synth.out);
  const auto simulated =
      run({"simulate", scratch / "x", fabric, "--sizes", "1G", "--gpu", "v100", "--json"});
  const auto seconds =
      nlohmann::json::parse(simulated.out)["times"][0]["simulated_seconds"].get<double>();
  std::array<char, 64> said{};
  std::snprintf(said.data(), said.size(), "k = %d %.2f ms", schedule["k"].get<int>(),
                seconds * 1e3);
  EXPECT_THAT(schedule["chosen"].get<std::string>(), HasSubstr(said.data()));
}

// Six GPUs on weak links between boxes: both phases at once are a third faster than one after the
// other, and 2^m chunks reach that.
TEST(SynthChoiceLong, AllreducesAtOnceSayWhatOneAfterTheOtherReaches) {
  const Scratch scratch;
  const std::string fabric = scratch.write("islands.json", island_topology());
  const auto bound = nlohmann::json::parse(run({"bound", fabric, "--json"}).out);
  const auto synth = run({"synth", "-k", "auto", fabric, "--json", "-o", scratch / "x"});
  const auto schedule = nlohmann::json::parse(synth.out);
  expect_valid(schedule, "forestcoll-synth.schema.json");
  EXPECT_EQ(schedule["optimum"]["exact"], bound["allreduce_optimum"]["exact"]);
  EXPECT_EQ(schedule["optimum"]["exact"], "2");
  EXPECT_EQ(schedule["algbw"]["exact"], "2");
  EXPECT_EQ(bound["algbw"]["allreduce"]["exact"], "2");
  EXPECT_EQ(bound["two_phases"]["exact"], "3/2");
  EXPECT_THAT(synth.err, HasSubstr("the optimum has reduce and broadcast at the same time"));
  EXPECT_GT(schedule["routed_algbw"]["value"], 1.5);
  EXPECT_THAT(run({"synth", "-k", "auto", fabric}).out, HasSubstr("optimum 2 GB/s -->"));
  expect_says(0, {"-v", "synth", fabric, "--tune", "1M,1G", "-o", scratch / "tuned"},
              "of the optimum 2 GB/s");
}

}  // namespace
}  // namespace forestcoll::testing
