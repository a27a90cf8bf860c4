// `-c scatter` and `-c gather` from outside: bound, synth, verify, simulate, compare, batch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/batch.hpp"
#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

const std::vector<std::string> kBoth = {"scatter", "gather"};

// Without a format it is a plan, as no runtime of XML has it.
TEST(SynthRootedLong, WritesPlansThatVerifyTakes) {
  const Scratch scratch;
  const std::string fabric = topology("dgx-a100-x2"), file = scratch / "plan.json";
  for (const std::string& collective : kBoth) {
    const auto made = run_well({"synth", fabric, "-c", collective, "--root", "box0/gpu3", "-k", "1",
                                "-o", file, "--json"});
    EXPECT_THAT(made.err, AllOf(HasSubstr(collective + " over 16 GPUs"), HasSubstr("W10")));
    const Json report = Json::parse(made.out);
    expect_valid(report, "forestcoll-synth.schema.json");
    EXPECT_EQ(report["collective"], collective);
    EXPECT_EQ(report["reached"], report["algbw"]);
    const Json plan = Json::parse(read_file(file));
    EXPECT_EQ(plan["collective"], collective);
    const auto verdict = run({"verify", file, "--topology", fabric, "--json"});
    EXPECT_EQ(verdict.code, 0) << verdict.out;
    const Json judged = Json::parse(verdict.out);
    expect_valid(judged, "forestcoll-verify.schema.json");
    EXPECT_EQ(judged["algbw"], report["algbw"]);
    const auto times = json_of({"simulate", file, fabric, "--sizes", "1M", "--json"},
                               "forestcoll-simulation.schema.json");
  }
}

TEST(SynthRootedLong, WritesFlowsThatFollowTheirSchema) {
  const Scratch scratch;
  for (const std::string& collective : kBoth) {
    const auto made = run_well(
        {"synth", topology("torus-4x4"), "-c", collective, "--root", "5", "--format", "flows"});
    const Json flows = Json::parse(made.out);
    expect_valid(flows, "forestcoll-flows.schema.json");
    EXPECT_EQ(flows["collective"], collective);
    EXPECT_EQ(flows["pairs"].size(), 15U);
    EXPECT_EQ(flows["algbw"], flows["optimum"]);
    const std::string file = scratch.write("flows.json", made.out);
    EXPECT_EQ(run({"verify", file, "--topology", topology("torus-4x4")}).code, 0);
  }
}

// Seven of eight parts leave the root through links of 300 GB/s; the figures agree everywhere.
TEST(SynthRootedLong, BoundAndSynthNameTheSameFigures) {
  const std::string fabric = topology("dgx-a100-x1");
  for (const std::string& collective : kBoth) {
    const auto report = json_of({"bound", fabric, "-c", collective, "--root", "0", "--check",
                                 "--json", "--target", "mscclpp"},
                                "forestcoll-bound.schema.json");
    EXPECT_EQ(report["algbw"][collective]["exact"], "2400/7");
    EXPECT_EQ(report["busbw"][collective]["exact"], "300");
    const auto made = run({"synth", fabric, "-c", collective, "--root", "0", "--json", "-o",
                           Scratch() / "plan.json"});
    const auto text = run({"bound", fabric, "-c", collective, "--root", "0"});
    EXPECT_THAT(text.out, AllOf(HasSubstr(collective + " "), HasSubstr("the root"),
                                HasSubstr("bottleneck of " + collective)));
    ASSERT_EQ(report["optimum"][collective]["exact"], "2400/7");
    EXPECT_EQ(report["reached"][collective]["exact"], "2400/7");
  }
}

TEST(SynthRootedLong, ComparesWithDirectSendsAndBinomialTrees) {
  const auto report = json_of({"compare", topology("dgx-a100-x1"), "-c", "scatter", "--root", "0",
                               "--sizes", "64K,16M", "--json"},
                              "forestcoll-compare.schema.json");
  EXPECT_EQ(report["reached"]["exact"], "2400/7");
  std::vector<std::string> names;
  for (const Json& row : report["rows"]) names.push_back(row["algorithm"]);
  EXPECT_THAT(names, ::testing::ElementsAre("forestcoll", "binomial", "direct"));
  // A binomial tree sends more over the root's neighbours, and no more over the root's own links.
  for (const Json& row : report["rows"]) EXPECT_EQ(row["algbw"]["exact"], "2400/7");
}

TEST(SynthRootedLong, InABatchToo) {
  const BatchDirectories batch;
  batch.add("pair.json", pair_topology("10"));
  const auto made = batch.run({"-c", "scatter,gather", "--root", "0", "--in-process"});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(batch.statuses(), (std::map<std::string, std::string>{{"pair.json gather", "ok"},
                                                                  {"pair.json scatter", "ok"}}));
  const auto files = files_below(batch.out());
  EXPECT_THAT(files.at("pair.json/scatter.json"), HasSubstr("\"collective\":\"scatter\""));
  EXPECT_THAT(files.at("pair.json/gather.json"), HasSubstr("\"collective\":\"gather\""));
}

// No target of XML has them, and a plan is no file of one.
TEST(SynthRootedLong, ABatchRefusesTargetsOfXml) {
  const BatchDirectories batch;
  batch.add("pair.json", pair_topology("10"));
  const auto refused = batch.run({"-c", "scatter", "--root", "0", "--target", "azure"});
  EXPECT_EQ(refused.code, 2) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("--target is for MSCCL XML, not for --format mscclpp"));
}

// The root keeps its id where ranks before it are gone.
TEST(SynthRootedLong, AFailureHasItsPrice) {
  for (const std::string& collective : kBoth) {
    const auto report = json_of({"bound", topology("dgx-a100-x1"), "-c", collective, "--root", "3",
                                 "--drop", "gpu0", "--json"},
                                "forestcoll-bound.schema.json");
    EXPECT_EQ(report["failure"][collective]["optimum"]["before"]["exact"], "2400/7");
    EXPECT_EQ(report["failure"][collective]["optimum"]["after"]["exact"], "350");
  }
}

struct Refusal {
  Words words;
  int code;
  std::string says;
};

TEST(SynthRootedLong, IsRefusedInWords) {
  const std::string fabric = topology("dgx-a100-x1");
  const std::vector<Refusal> refusals = {
      {{"-c", "scatter"}, 2, "scatter needs a root"},
      {{"-c", "alltoall", "--root", "0"}, 2, "alltoall has no root"},
      {{"-c", "gather", "--root", "9"}, 2, "S02"},
      {{"-c", "scatter", "--root", "0", "--format", "msccl"}, 3, "no runtime of MSCCL XML"},
      {{"-c", "scatter", "--root", "0", "--format", "forest"}, 2, "scatter has none"},
      {{"-c", "gather", "--root", "0", "--demand", "x.csv"}, 2, "--demand is for -c alltoall"},
      {{"-c", "gather", "--root", "0", "--algorithm", "bruck"}, 2, "bruck has no gather"},
      {{"-c", "alltoall", "--algorithm", "binomial"}, 2, "binomial has no alltoall"},
      {{"-c", "scatter", "--root", "0", "--max-height", "2"}, 2, "scatter has none"},
      {{"-c", "scatter", "--root", "0", "--format", "goal", "--sizes", "1M"}, 2, "has a scatter"},
      {{"-c", "scatter", "--root", "0", "--deploy", "dir"}, 3, "callers of its executor alone"},
  };
  for (const Refusal& refusal : refusals) {
    Words words = {"synth", fabric};
    words.insert(words.end(), refusal.words.begin(), refusal.words.end());
    const auto refused = run(words);
    EXPECT_EQ(refused.code, refusal.code) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr(refusal.says));
    EXPECT_EQ(refused.out, "");
  }
}

}  // namespace
}  // namespace forestcoll::testing
