// `forestcoll synth --algorithm` from outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

std::string rings_of_mi250() {
  return source_path("tests/baseline/mi250-rings.xml");
}

TEST(AlgorithmLong, SchedulesOfOthersAreAcceptedByVerify) {
  for (const std::string algorithm :
       {"nccl-ring", "ring", "double-tree", "halving-doubling", "bruck", "multitree", "bfb",
        "hierarchical", "greedy", "pat", "swing", "bine", "two-shot", "two-level", "rail-pat",
        "two-level-pat", "double-tree-direct", "double-tree-binomial"}) {
    // The two kinds of switches let no NIC reach the next rank's.
    const std::set<std::string> within_a_box = {"ring",  "bruck", "halving-doubling", "pat",
                                                "swing", "bine",  "two-shot"};
    const std::string fabric =
        topology(within_a_box.contains(algorithm) ? "dgx-a100-x1" : "dgx-a100-x2");
    const auto synth = expect_says(0, {"synth", fabric, "--algorithm", algorithm},
                                   "algorithm " + algorithm + ": ");
    EXPECT_THAT(synth.err, HasSubstr("% of the optimum"));
    const auto verify = run({"verify", "-", "--topology", fabric}, {.input = synth.out});
    EXPECT_EQ(verify.code, 0) << algorithm << verify.out << verify.err;
    EXPECT_THAT(verify.out, HasSubstr("valid: allreduce over"));
  }
}

TEST(AlgorithmLong, TheSummarySaysHowFarFromTheOptimum) {
  const auto synth = expect_says(0,
                                 {"synth", topology("dgx-a100-x2"), "-c", "allgather",
                                  "--algorithm", "nccl-ring", "--format", "none", "--json"},
                                 "algbw 213.333 (640/3) GB/s, 61.53 % of the optimum 346.667");
  const auto json = nlohmann::json::parse(synth.out);
  expect_valid(json, "forestcoll-synth.schema.json");
  EXPECT_EQ(json["made_by"]["algorithm"], "nccl-ring");
  EXPECT_EQ(json["made_by"]["bound"]["exact"], "1040/3");
  EXPECT_EQ(json["algbw"]["exact"], "640/3");
  EXPECT_EQ(json["k"], 8);
  EXPECT_EQ(json["height"]["max"], 15);
}

TEST(AlgorithmLong, ForestsOfOthersPassToo) {
  for (const std::string algorithm : {"nccl-ring", "double-tree"}) {
    const auto synth = run_well({"synth", topology("dgx-a100-x4"), "-c", "allreduce", "--algorithm",
                                 algorithm, "--format", "forest"});
    const auto verify =
        run({"verify", "-", "--topology", topology("dgx-a100-x4")}, {.input = synth.out});
    EXPECT_EQ(verify.code, 0) << verify.out;
  }
}

TEST(AlgorithmLong, RootedCollectivesGoRoundTheRing) {
  const auto synth = run_well({"synth", topology("dgx-1-v100"), "-c", "broadcast", "--root", "3",
                               "--algorithm", "nccl-ring"});
  const auto verify = run({"verify", "-"}, {.input = synth.out});
  EXPECT_EQ(verify.code, 0) << verify.out;
  EXPECT_THAT(verify.out, HasSubstr("valid: broadcast"));
}

TEST(AlgorithmLong, RingsCanBeGiven) {
  const auto synth =
      expect_says(0,
                  {"synth", topology("mi250-x2"), "-c", "allgather", "--algorithm", "nccl-ring",
                   "--nccl-graph", rings_of_mi250(), "--format", "forest"},
                  "algbw 264.258");
  EXPECT_THAT(synth.err, HasSubstr("the graph file: 6 of 50 GB/s in a box, 16 over the boxes"));
}

TEST(AlgorithmLong, WhatHasNoTreesSaysItsRate) {
  const auto synth = run({"synth", topology("torus-4x4"), "--algorithm", "ring"});
  EXPECT_EQ(synth.code, 3) << synth.err;
  EXPECT_THAT(synth.out, IsEmpty());
  EXPECT_THAT(synth.err, HasSubstr("[B10]"));
  EXPECT_THAT(synth.err, HasSubstr("GB/s here, simulated"));
}

TEST(AlgorithmLong, WrongRequestsAreRefused) {
  struct Case {
    std::vector<std::string> arguments;
    std::string code;
    int exit = 2;
  };
  const Scratch scratch;
  const std::string no_rings = scratch.write(
      "tree.xml",
      "<graphs version=\"1\"><graph id=\"1\" pattern=\"1\" speedintra=\"6\" speedinter=\"6\"/>"
      "</graphs>");
  const std::vector<Case> cases = {
      {{"--algorithm", "taccl"}, "[B09]"},
      {{"--algorithm", "multitree", "-c", "broadcast", "--root", "0"}, "[B06]"},
      {{"--algorithm", "recursive-doubling", "-c", "allgather"}, "[B06]"},
      {{"--algorithm", "nvls"}, "[B03]"},
      {{"--algorithm", "ring", "-k", "2"}, "[S04]"},
      {{"--algorithm", "ring", "--max-height", "3"}, "[S04]"},
      {{"--algorithm", "ring", "--tradeoff"}, "[S04]"},
      {{"--algorithm", "ring", "--time-limit", "3"}, "[S04]"},
      {{"--algorithm", "ring", "--effort", "max"}, "[S04]"},
      {{"--algorithm", "ring", "--tune", "1M", "-o", scratch / "d"}, "[S04]"},
      {{"--algorithm", "ring", "--warm", no_rings}, "[S04]"},
      {{"--algorithm", "ring", "--format", "forest"}, "[B10]", 3},
      {{"--algorithm", "one-shot"},
       "one-shot has no schedule here: rank 0: sends to rank 5, but no route leads there through "
       "switches alone [B10]",
       3},
      {{"--algorithm", "one-shot", "--format", "mscclpp"}, "[B10]", 3},
      {{"--cross-nic"}, "[S04]"},
      {{"--nccl-constants"}, "[S04]"},
      {{"--algorithm", "ring", "--nccl-graph", rings_of_mi250()}, "[S04]"},
      {{"--algorithm", "nccl-ring", "--nccl-graph", rings_of_mi250()}, "mi250-rings.xml: channel"},
      {{"--algorithm", "nccl-ring", "--nccl-graph", no_rings}, "[B07]"},
      {{"--algorithm", "nccl-ring", "--nccl-graph", scratch / "none"}, "none", 4},
  };
  for (const Case& each : cases) {
    const auto synth = run(joined({"synth", topology("dgx-1-v100")}, each.arguments));
    EXPECT_EQ(synth.code, each.exit) << each.code << synth.err;
    EXPECT_THAT(synth.err, HasSubstr(each.code));
    EXPECT_THAT(synth.out, IsEmpty());
  }
}

// Its roots sum unequal shares, which an allreduce may.
TEST(BaselineSchedules, DoubleTreesOverThreeBoxesAreWritten) {
  const Scratch scratch;
  ASSERT_EQ(run({"topo", "gen", "dgx-a100", "--boxes", "3", "-o", scratch / "t.json"}).code, 0);
  run_well({"synth", scratch / "t.json", "--algorithm", "double-tree", "-o", scratch / "x.xml",
            "--json"});
  const auto verify = run({"verify", scratch / "x.xml", "--topology", scratch / "t.json"});
  EXPECT_EQ(verify.code, 0) << verify.out;
  EXPECT_THAT(verify.out, HasSubstr("valid: allreduce over 24 ranks"));
}

}  // namespace
}  // namespace forestcoll::testing
