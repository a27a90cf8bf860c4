// What a failure costs: `--whatif` and `--drop` say the same, `bound` and `synth` too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

using Json = nlohmann::json;
using ::testing::ContainsRegex;

Json valid_json(std::vector<std::string> words, const std::string& schema) {
  words.emplace_back("--json");
  const auto result = run_well(words);
  auto json = Json::parse(result.out, nullptr, false);
  EXPECT_FALSE(json.is_discarded()) << result.out;
  expect_valid(json, schema);
  return json;
}

Json bound_report(const std::vector<std::string>& words) {
  return valid_json(words, "forestcoll-bound.schema.json");
}

Json synth_report(const std::vector<std::string>& words) {
  return valid_json(words, "forestcoll-synth.schema.json");
}

// "-0.3 %" of a change.
std::string change_text(const Json& change) {
  char text[32];
  std::snprintf(text, sizeof text, "%+.1f %%", change.get<double>() * 100);
  return text;
}

TEST(FailurePriceLong, WhatIfHasWhatDropPrints) {
  for (const std::string name : {"dgx-a100-x2-degraded", "mi250-x1"}) {
    const Json what_if = bound_report({"bound", topology(name), "--whatif"})["what_if"];
    EXPECT_EQ(what_if["collective"], "allreduce");
    const std::string ranking = run({"bound", topology(name), "--whatif", "--top", "100"}).out;
    for (const char* list : {"failures", "cable_failures"}) {
      for (const Json& failure : what_if[list]) {
        if (failure["algbw"]["value"] == 0) continue;
        const std::string drop = failure["drop"];
        const Json left =
            bound_report({"bound", topology(name), "-c", "allreduce", "--drop", drop});
        const Json& price = left["failure"]["allreduce"]["optimum"];
        EXPECT_EQ(price["before"], what_if["optimum"]) << drop;
        EXPECT_EQ(price["after"]["exact"], failure["algbw"]["exact"]) << drop;
        if (failure["algbw"] == what_if["algbw"]) continue;
        EXPECT_THAT(ranking, HasSubstr(change_text(price["change"]))) << drop;
      }
    }
  }
}

TEST(FailurePriceLong, SynthAndBoundPrintTheSame) {
  const Scratch scratch;
  const std::string file = topology("dgx-h100-x4-rail"), drop = "box0/gpu0~box0/nic0";
  const Json bound =
      bound_report({"bound", file, "-c", "allreduce", "--drop", drop})["failure"]["allreduce"];
  Json synth = synth_report(
      {"synth", file, "-k", "1", "--drop", drop, "-o", scratch / "schedule.xml"})["failure"];
  ASSERT_EQ(synth["times"].size(), 3U);
  std::vector<std::int64_t> sizes;
  for (const Json& time : synth["times"]) {
    sizes.push_back(time["bytes"]);
    EXPECT_NEAR(time["change"],
                time["after_simulated_seconds"].get<double>() /
                        time["before_simulated_seconds"].get<double>() -
                    1,
                1e-12);
  }
  EXPECT_EQ(sizes, (std::vector<std::int64_t>{1 << 20, 64 << 20, 1 << 30}));
  // At 1 GiB links are what counts.
  EXPECT_GT(synth["times"][2]["change"], 0);
  EXPECT_EQ(synth["reached"]["before"],
            synth_report({"synth", file, "-k", "1", "-o", scratch / "whole.xml"})["reached"]);
  synth.erase("times");
  synth.erase("reached");
  EXPECT_EQ(synth, bound);
  EXPECT_EQ(bound["optimum"]["before"]["exact"], "800/3");
  EXPECT_EQ(bound["optimum"]["after"]["exact"], "775/3");
  EXPECT_NEAR(bound["optimum"]["change"], 775.0 / 800 - 1, 1e-12);
}

TEST(FailurePriceLong, IsATable) {
  const Scratch scratch;
  const std::string file = topology("dgx-a100-x2"), derate = "box0/nic3~ib1=1/2";
  const auto bound = run_well({"bound", file, "--derate", derate});
  EXPECT_THAT(bound.out, HasSubstr("the failure costs  GB/s "));
  EXPECT_THAT(bound.out, ContainsRegex("allreduce +optimum +173.333 \\(520/3\\) +172.917 "
                                       "\\(2075/12\\) +-0.2 %"));
  EXPECT_THAT(bound.out, Not(HasSubstr("reached")));  // no schedules are made
  const auto one = run(
      {"bound", topology("dgx-a100-x1"), "-c", "allgather", "--target", "azure", "--drop", "gpu7"});
  EXPECT_THAT(one.out, ContainsRegex("allgather +reached +342.857 \\(2400/7\\) +350 +\\+2.1 %"));
  EXPECT_THAT(bound.out, ContainsRegex("alltoall +optimum +50 +46.875 +-6.2 %"));
  const auto synth =
      run_well({"synth", file, "-k", "1", "--derate", derate, "-o", scratch / "schedule.xml"});
  EXPECT_THAT(synth.err, ContainsRegex("  allreduce +optimum +173.333 \\(520/3\\) +172.917"));
  EXPECT_THAT(synth.err,
              ContainsRegex("  allreduce +us of 64 MiB +[0-9.]+ +[0-9.]+ +\\+[0-9.]+ %"));
  // Nothing has failed where GPUs are chosen.
  const auto chosen = run_well({"bound", file, "--ranks", "box0"});
  EXPECT_THAT(chosen.out, Not(HasSubstr("the failure costs")));
}

// What is left out by --ranks is so before the failure, too.
TEST(FailurePrice, IsOfTheGpusThatTakePart) {
  const std::string file = topology("dgx-a100-x4");
  const Json price = bound_report({"bound", file, "-c", "allgather", "--ranks", "box0,box1",
                                   "--drop", "box0/nic0"})["failure"]["allgather"];
  const Json whole = bound_report({"bound", file, "-c", "allgather", "--ranks", "box0,box1"});
  EXPECT_EQ(price["optimum"]["before"], whole["optimum"]["allgather"]);
}

TEST(FailurePriceLong, OfAnAlltoall) {
  const Scratch scratch;
  const std::string file = topology("dgx-a100-x2"), drop = "box0/nic3~ib1";
  const Json bound =
      bound_report({"bound", file, "-c", "alltoall", "--drop", drop})["failure"]["alltoall"];
  EXPECT_EQ(bound["optimum"]["before"]["exact"], "50");
  EXPECT_EQ(bound["optimum"]["after"]["exact"], "175/4");
  Json synth = synth_report(
      {"synth", file, "-c", "alltoall", "--drop", drop, "-o", scratch / "schedule.xml"})["failure"];
  EXPECT_EQ(synth["times"].size(), 3U);
  EXPECT_LT(synth["reached"]["change"], 0);
  synth.erase("times");
  synth.erase("reached");
  EXPECT_EQ(synth, bound);
}

// Of a large fabric the rates are known, and no second schedule is made.
TEST(FailurePrice, OfALargeFabricIsARate) {
  const Scratch scratch;
  const Json price = synth_report({"synth", topology("dragonfly-72"), "-c", "allgather", "-k", "1",
                                   "--format", "forest", "--derate", "g0/r0~g0/r1=1/2", "-o",
                                   scratch / "forest.json"})["failure"];
  EXPECT_TRUE(price["optimum"].contains("change"));
  EXPECT_EQ(price["reached"]["before"]["not_computed"]["code"], "N10");
  EXPECT_TRUE(price["reached"]["after"].contains("exact"));
  EXPECT_FALSE(price.contains("times"));
}

}  // namespace
}  // namespace forestcoll::testing
