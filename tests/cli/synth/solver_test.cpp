// The options of the solver, and wrong ones, from outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

TEST(SolverOptionsLong, ThreadsAndTheTimeOfDayDoNotShow) {
  const auto one = run({"synth", topology("mi250-x2"), "--format", "forest", "-k", "2", "-j", "1"});
  const auto many =
      run({"synth", topology("mi250-x2"), "--format", "forest", "-k", "2", "--threads", "8"});
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(one.out, many.out);
}

TEST(SolverOptionsLong, EveryEffortIsAForest) {
  for (const std::string effort : {"fast", "default", "max"}) {
    expect_says(0, {"synth", topology("torus-4x4"), "--format", "none", "--effort", effort},
                "100 % of the optimum");
  }
}

TEST(SolverOptionsLong, MaxHeightIsKeptOrImpossible) {
  const auto json = json_of({"synth", topology("dgx-a100-x2"), "-c", "allgather", "--format",
                             "none", "--json", "--max-height", "2"},
                            "forestcoll-synth.schema.json");
  EXPECT_LE(json["height"]["max"], 2);
  const auto impossible =
      run({"synth", topology("hypercube-16"), "-c", "allgather", "--max-height", "3"});
  EXPECT_NE(impossible.code, 0);
  EXPECT_THAT(impossible.err, HasSubstr("[E16]"));
}

TEST(SolverOptionsLong, TradeoffHasARowPerKAndPerHeight) {
  const auto synth = run_well({"synth", topology("dgx-a100-x2"), "-c", "allgather", "--format",
                               "none", "--tradeoff", "--json"});
  const auto json = nlohmann::json::parse(synth.out);
  expect_valid(json, "forestcoll-synth.schema.json");
  const auto& by_k = json["tradeoff_by"]["by_k"];
  ASSERT_EQ(by_k.size(), 6U);  // 1, 2, 4, 8, 16 and the optimal 13
  EXPECT_EQ(by_k[0]["algbw"]["exact"], "2400/7");
  EXPECT_EQ(by_k[5]["k"], 13);
  EXPECT_EQ(by_k[5]["algbw"], json["optimum"]);
  EXPECT_FALSE(json["tradeoff_by"]["by_height"].empty());
  EXPECT_THAT(synth.err, HasSubstr("rate by height:"));
}

// The highest trees of what a runtime loads are those that it gets by default: a power of two.
TEST(SolverOptionsLong, TradeoffOfAScheduleBeginsWithItsDefault) {
  const Scratch scratch;
  const std::string dgx = topology("dgx-a100-x2");
  const auto first_k = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {"synth", dgx, "-c", "allgather", "-o", scratch / "out"};
    for (const char* word : {"--tradeoff", "--json"}) more.emplace_back(word);
    words.insert(words.end(), more.begin(), more.end());
    const auto synth = json_of(words);
    return synth["tradeoff_by"]["by_height"][0]["k"].get<int>();
  };
  EXPECT_EQ(first_k({}), 8);
  EXPECT_EQ(first_k({"-k", "auto"}), 8);
  EXPECT_EQ(first_k({"--format", "forest"}), 13);
}

TEST(SolverOptionsLong, UsageErrors) {
  const std::string file = topology("dgx-a100-x1");
  const std::vector<Misuse> misuses = {
      {{file, "--effort", "heroic"}, "found \"heroic\" [S03]"},
      {{file, "-j", "0"}, "--jobs: expected a number from 1 to 1024, found \"0\" [S03]"},
      {{file, "-j", "many"}, "found \"many\" [S03]"},
      {{file, "--time-limit", "0"}, "--time-limit: expected a positive number of seconds"},
      {{file, "--time-limit", "-1"}, "found \"-1\" [S03]"},
      {{file, "--time-limit", "nan"}, "found \"nan\" [S03]"},
      {{file, "--time-limit", "1s"}, "found \"1s\" [S03]"},
      {{file, "--max-height", "0"}, "--max-height: expected a positive number of hops"},
      {{file, "--max-height", "2", "--warm", file}, "[S04]"},
      {{file, "--derate", "kind=nvlink"}, "[D02]"},
      {{file, "--max-nodes", "-5"}, "expected a positive integer, found \"-5\""},
      {{file, "--max-nodes", "0"}, "expected a positive integer, found \"0\""},
      {{file, "--max-nodes", "ten"}, "expected a positive integer, found \"ten\""},
  };
  for (const Misuse& misuse : misuses) {
    const auto synth = expect_says(2, joined({"synth"}, misuse.arguments), misuse.says);
    EXPECT_TRUE(synth.out.empty());
  }
}

TEST(Program, KnowsItsCommands) {
  const auto unknown = run({"frobnicate", "x"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, StartsWith("there is no command \"frobnicate\"; there are synth"));
  const auto none = run({});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, StartsWith("a command is missing: one of synth"));
  const auto topo = run({"topo"});
  EXPECT_EQ(topo.code, 2);
  EXPECT_THAT(topo.err, StartsWith("a command is missing: one of check, gen, show"));
  EXPECT_THAT(topo.err, HasSubstr("`forestcoll topo --help`"));
  const auto painting = run({"topo", "paint", "x"});
  EXPECT_EQ(painting.code, 2);
  EXPECT_THAT(painting.err, StartsWith("there is no command \"paint\"; there are check"));
  EXPECT_THAT(run({"batch"}).err, HasSubstr("a directory of topologies is missing"));
  expect_says(2, {"--frobnicate"}, "there is no option --frobnicate");
  EXPECT_THAT(run({"--help"}).out, HasSubstr("130, 143"));
  EXPECT_THAT(run({"topo", "--help"}).out, Not(HasSubstr("forestcoll synth")));
}

}  // namespace
}  // namespace forestcoll::testing
