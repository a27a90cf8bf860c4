// `synth --format nccl-tuner` and `ncclx-tuner`: NCCL's own algorithms, by size.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

TEST(SynthNcclLong, RulesAreWrittenVerifiedAndCompared) {
  const Scratch scratch;
  const std::string file = scratch / "nccl_tuner.conf";
  const auto result = run_well({"synth", topology("dgx-1-v100"), "--format", "nccl-tuner", "--tune",
                                "4K,1M", "-o", file, "--json"});
  const std::string text = read_file(file);
  for (const char* name : {"allreduce", "allgather", "reducescatter", "broadcast", "reduce"}) {
    EXPECT_THAT(text, HasSubstr("\n" + std::string(name) + ",0,"));
  }
  EXPECT_THAT(text, HasSubstr(",1,8,-1,-1\n"));
  EXPECT_THAT(result.err, AllOf(HasSubstr("NCCL's own choice"), HasSubstr("8 ranks on 1 node"),
                                Not(HasSubstr("have no row"))));
  const auto json = nlohmann::json::parse(result.out);
  expect_valid(json, "forestcoll-nccl-tuner.schema.json");
  EXPECT_EQ(json["collectives"].size(), 5U);
  const auto verdict = run_well({"verify", file, "--topology", topology("dgx-1-v100")});
  EXPECT_THAT(verdict.out, AllOf(HasSubstr("valid: "), HasSubstr("of nccl-tuner for allreduce"),
                                 HasSubstr("for 8 ranks on 1 node\n")));
  const auto other = run({"verify", file, "--topology", topology("torus-4x4")});
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.out, HasSubstr("[V20]"));
  const auto as_json = json_of({"verify", file, "--json"}, "forestcoll-verify.schema.json");
}

TEST(SynthNcclLong, OneCollectiveAndNcclx) {
  const auto result = run_well({"synth", topology("dgx-1-v100"), "-c", "allgather", "--format",
                                "ncclx-tuner", "--tune", "64K"});
  EXPECT_THAT(result.out, AllOf(HasSubstr("\nallgather,[0,"), HasSubstr(",1,8\n"),
                                Not(HasSubstr("allreduce"))));
  EXPECT_THAT(result.err, AllOf(HasSubstr("NCCLX chooses by itself for all others"),
                                HasSubstr("other collectives than allgather have no row")));
  const auto verdict = run({"verify", "-"}, {.input = result.out});
  EXPECT_EQ(verdict.code, 0) << verdict.out;
}

// NCCL's kernels are no files: XML that no parser would load does not end them.
TEST(SynthNcclLong, RingsLongerThanAnyFile) {
  const auto fabric = run_well({"topo", "gen", "dgx-h100", "--boxes", "32"});
  const auto result =
      run_well({"synth", "-", "-c", "allgather", "--format", "nccl-tuner", "--tune", "1M,1G"},
               {.input = fabric.out});
  EXPECT_THAT(result.out, HasSubstr("\nallgather,0,"));
  EXPECT_THAT(result.err, HasSubstr("256 ranks on 32 nodes"));
}

TEST(SynthNcclLong, OneOfAllCollectivesIsTooLarge) {
  const auto fabric = run_well({"topo", "gen", "dgx-h100", "--boxes", "64"});
  const auto result =
      run({"synth", "-", "--format", "nccl-tuner", "--tune", "1G"}, {.input = fabric.out});
  EXPECT_EQ(result.code, 3) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("allgather: "), HasSubstr("another collective with -c")));
}

TEST(SynthNcclLong, RefusesWhatRulesDoNotHave) {
  const auto refused = [](const std::vector<std::string>& more, const std::string& words,
                          const std::string& code) {
    const auto result =
        run(joined({"synth", topology("dgx-1-v100"), "--format", "nccl-tuner"}, more));
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_TRUE(has_no_report(result));
    EXPECT_THAT(result.err, AllOf(HasSubstr(words), HasSubstr("[" + code + "]")));
  };
  refused({"-k", "4"}, "-k is for schedules of ours", "S04");
  refused({"--root", "0"}, "--root is for schedules of ours", "S04");
  refused({"--algorithm", "bfb"}, "--algorithm is for schedules of ours", "S04");
  refused({"--deploy", "d"}, "--deploy is for schedules of ours", "S04");
  refused({"--sizes", "1K:1M"}, "--tune", "S04");
  refused({"--tune", "1Q"}, "--tune", "S03");
  refused({"--json"}, "name a file with -o", "S04");
  refused({"-c", "alltoall"}, "NCCL's tuner knows no alltoall", "B06");
  refused({"--groups", "all"}, "--format nccl-tuner", "S04");
}

TEST(SynthNcclLong, GraphsAreWrittenVerifiedAndCompared) {
  const Scratch scratch;
  const std::string file = scratch / "graph.xml";
  const auto result = expect_says(
      0, {"synth", topology("hypercube-16"), "--format", "nccl-graph", "-o", file, "--json"},
      "NCCL's own reach 3.2 GB/s: these are 33.3 % faster");
  const auto json = nlohmann::json::parse(result.out);
  expect_valid(json, "forestcoll-nccl-graph.schema.json");
  EXPECT_EQ(json["algbw"]["exact"], "64/15");
  const auto verdict = run_well({"verify", file, "--topology", topology("hypercube-16")});
  EXPECT_THAT(verdict.out, HasSubstr("rings in 4 channels, trees in 4 channels over 16 GPUs"));
  // What is written is what --nccl-graph reads, at the rate that was told.
  const auto rings = json_of({"synth", topology("hypercube-16"), "-c", "allgather", "--algorithm",
                              "nccl-ring", "--nccl-graph", file, "--format", "none", "--json"});
  EXPECT_EQ(rings["algbw"]["exact"], "64/15");
}

TEST(SynthNcclLong, GraphsSayWhereTheyGainNothing) {
  const auto result = expect_says(0, {"synth", topology("dgx-a100-x2"), "--format", "nccl-graph"},
                                  "gains nothing on this fabric");
  EXPECT_THAT(result.out, HasSubstr("<net dev=\"0x7\"/>"));
}

TEST(SynthNcclLong, RefusesWhatGraphsDoNotHave) {
  for (const std::vector<std::string>& more : {std::vector<std::string>{"-c", "allgather"},
                                               {"--tune", "1M"},
                                               {"--members", "0-7"},
                                               {"-k", "2"},
                                               {"--root", "0"},
                                               {"--nccl-graph", "g.xml"},
                                               {"--json"}}) {
    const auto result =
        run(joined({"synth", topology("hypercube-16"), "--format", "nccl-graph"}, more));
    EXPECT_EQ(result.code, 2) << more.front();
    EXPECT_TRUE(has_no_report(result));
    EXPECT_THAT(result.err, AllOf(HasSubstr(more.front()), HasSubstr("[S04]")));
  }
}

// It is no topology.
TEST(SynthNcclLong, AGraphIsNoTopology) {
  expect_says(2, {"topo", "check", "-"}, "[I08]", {.input = "<graphs version=\"1\"></graphs>"});
}

TEST(SynthNcclLong, NoneIsSimulated) {
  for (const char* text :
       {"allreduce,0,1,ring,ll,1,-1,-1\n", "<graphs version=\"1\"></graphs>\n"}) {
    const auto result = run({"simulate", "-", topology("dgx-1-v100")}, {.input = text});
    EXPECT_EQ(result.code, 2) << result.out;
    EXPECT_THAT(result.err, AllOf(HasSubstr("holds no schedule"), HasSubstr("[M04]")));
  }
}

TEST(SynthNcclLong, BatchMakesNone) {
  const Scratch scratch;
  const auto result =
      run({"batch", topology("dgx-1-v100"), "-o", scratch / "out", "--format", "nccl-tuner"});
  EXPECT_NE(result.code, 0);
  EXPECT_THAT(result.err + result.out, HasSubstr("nccl-tuner"));
}

TEST(SynthNcclLong, TargetsDoNotLoadRules) {
  const std::string rules = "allreduce,0,1,ring,ll,1,-1,-1\n";
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--target", "rccl-6"}, {"--target", "all"}, {"--sms", "8"}}) {
    expect_says(2, joined({"verify", "-"}, more), "[S04]", {.input = rules});
  }
}

}  // namespace
}  // namespace forestcoll::testing
