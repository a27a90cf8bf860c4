// What is left after a failure, and trees that are kept on it, from outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

TEST(Failures, BoundSaysWhatIsGoneAndWhatThatCosts) {
  const auto bound = run_well({"bound", topology("dgx-a100-x2"), "--drop", "box0/nic3~ib1",
                               "--derate", "box1/nic0~ib0=1/2", "--json", "--check"});
  const auto json = nlohmann::json::parse(bound.out);
  expect_valid(json, "forestcoll-bound.schema.json");
  EXPECT_EQ(json["algbw"]["allgather"]["exact"], "320");
  EXPECT_EQ(json["changes"].size(), 2U);
  EXPECT_THAT(bound.err, HasSubstr("dropped box0/nic3~ib1 (1 link)\n"));
  EXPECT_THAT(bound.err, HasSubstr("derated box1/nic0~ib0 to 1/2 (1 link)\n"));
}

TEST(FailuresLong, SynthesisOnWhatIsLeftPassesItsOwnCheck) {
  const Scratch scratch;
  for (const std::string format : {"msccl", "forest"}) {
    expect_says(0,
                {"synth", topology("dgx-a100-x2"), "--drop", "box0/nic3", "--ranks",
                 "box0,box1/gpu[0-3]", "-k", "auto", "--format", format, "-o", scratch / "s"},
                "allreduce over 12 GPUs");
  }
}

TEST(Failures, AMisspeltNameIsSuggested) {
  const auto bound = expect_says(2, {"bound", topology("dgx-a100-x2"), "--drop", "box0/nik3"},
                                 "dgx-a100-x2.json: --drop: no node and no box is called");
  EXPECT_THAT(bound.err, HasSubstr("Did you mean \"box0/nic3\"?"));
  expect_says(2, {"bound", topology("dgx-a100-x2"), "--drop", "kind=ib"}, "[E09]");
}

TEST(WarmLong, KeepsTreesAtTheNewOptimum) {
  const Scratch scratch;
  const std::string fabric = topology("dgx-a100-x2");
  for (const std::string collective : {"allgather", "reduce_scatter", "allreduce"}) {
    const std::string before = scratch / "before.json";
    const std::string after = scratch / "after.json";
    ASSERT_EQ(run({"synth", fabric, "-c", collective, "--format", "forest", "-o", before}).code, 0);
    const auto warm = run_well({"synth", fabric, "-c", collective, "--format", "forest", "--drop",
                                "box0/nic3~ib1", "--warm", before, "-o", after, "--json"});
    const auto json = nlohmann::json::parse(warm.out);
    expect_valid(json, "forestcoll-synth.schema.json");
    EXPECT_EQ(json["algbw"], json["optimum"]);
    EXPECT_GT(json["kept"]["kept_trees"], 0);
    // Both phases of an allreduce at once are faster then, and leave less of one after the other.
    EXPECT_GT(json["kept"]["kept_share"], collective == "allreduce" ? 0.4 : 0.8);
    EXPECT_GT(json["kept"]["touched_trees"], 0);
    EXPECT_THAT(warm.err, HasSubstr("touched by the failure"));
  }
}

TEST(WarmLong, ASymmetricForestIsAsGoodAsItsTrees) {
  const Scratch scratch;
  for (const auto& [name, dropped, collective] :
       {std::tuple("dgx-a100-x4", "box0/nic3", "allreduce"),
        {"torus-4x4", "n0x0~n0x1", "allreduce"},
        {"mi250-x2", "box0/die3~ib", "reduce_scatter"}}) {
    std::vector<std::string> after;
    for (const std::string format : {"forest", "forest-symmetric"}) {
      const std::string before = scratch / format;
      ASSERT_EQ(run({"synth", topology(name), "-c", collective, "-k", "2", "--format", format, "-o",
                     before})
                    .code,
                0);
      const auto warm =
          run_well({"synth", topology(name), "-c", collective, "-k", "2", "--format", "forest",
                    "--drop", dropped, "--effort", "fast", "--warm", before});
      EXPECT_THAT(warm.err, Not(HasSubstr(": 0 kept")));
      after.push_back(warm.out);
    }
    EXPECT_EQ(after[0], after[1]) << name;
  }
}

// A switch that then lets out less than it takes in is beyond the theorem about the rest: what can
// stay stays all the same, at the rate of a packing from scratch.
TEST(WarmLong, KeepsTreesWhereOneDirectionIsGone) {
  const Scratch scratch;
  const std::string fabric = topology("dgx-a100-x2");
  for (const std::string collective : {"allgather", "reduce_scatter", "allreduce"}) {
    const std::string before = scratch / (collective + ".json");
    const std::vector<std::string> asked = {"synth",    fabric,     "-c",
                                            collective, "--format", "forest"};
    auto previous = asked;
    previous.insert(previous.end(), {"-o", before});
    ASSERT_EQ(run(previous).code, 0);
    for (const std::string drop : {"box0/nic3->ib1", "ib0->box1/nic2"}) {
      auto fresh = asked;
      fresh.insert(fresh.end(), {"--drop", drop, "-o", scratch / "fresh.json", "--json"});
      auto warm = asked;
      warm.insert(warm.end(),
                  {"--drop", drop, "-o", scratch / "warm.json", "--json", "--warm", before});
      const auto anew = run(fresh), kept = run(warm);
      ASSERT_EQ(anew.code, 0) << anew.err;
      ASSERT_EQ(kept.code, 0) << kept.err;
      EXPECT_THAT(kept.err, HasSubstr("[W01]"));
      EXPECT_THAT(anew.err, HasSubstr("[W01]"));
      const auto summary = nlohmann::json::parse(kept.out);
      // Trees of both phases at once are for parts of the links that the loss changes.
      const double least = collective == "allreduce" ? 0.95 : 1;
      EXPECT_GE(summary["algbw"]["value"].get<double>(),
                least * nlohmann::json::parse(anew.out)["algbw"]["value"].get<double>())
          << collective << drop;
      EXPECT_THAT(kept.err, Not(HasSubstr(": 0 kept"))) << collective << drop;
    }
  }
  const auto both = run_well({"bound", fabric, "--drop", "box0/nic3~ib1"});
  EXPECT_THAT(both.err, Not(HasSubstr("[W01]")));
}

TEST(WarmLong, SaysWhatIsWrongWithThePreviousForest) {
  const Scratch scratch;
  const std::string fabric = topology("dgx-a100-x2");
  const std::string before = scratch / "before.json";
  ASSERT_EQ(run({"synth", fabric, "-c", "allgather", "--format", "forest", "-o", before}).code, 0);
  expect_says(2, {"synth", fabric, "--warm", before}, "is for allgather, not for allreduce [R02]");
  expect_says(2, {"synth", topology("dgx-1-v100"), "-c", "allgather", "--warm", before}, "[F02]");
  expect_says(2, {"synth", fabric, "--warm", fabric}, "[F01]");
  EXPECT_EQ(run({"synth", fabric, "--warm", scratch / "nothing"}).code, 4);
}

}  // namespace
}  // namespace forestcoll::testing
