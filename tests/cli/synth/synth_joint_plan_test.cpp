// `forestcoll synth --format mscclpp -o FILE.json` of process groups: one plan for all of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

using Words = std::vector<std::string>;
using Json = nlohmann::json;

// A box of eight MI300X, each with a link to each other.
class SynthJointPlan : public ::testing::Test {
 protected:
  SynthJointPlan() { run_well({"topo", "gen", "mi300x", "-o", box_}); }

  [[nodiscard]] Words synth(const Words& words) const {
    return joined({"synth", box_, "--format", "mscclpp", "-o", plan_}, words);
  }

  // The report; the plan is verified, with the rate that it says.
  [[nodiscard]] Json written(const Words& words) const {
    const Json report = json_of(joined(synth(words), {"--json"}), "forestcoll-job.schema.json");
    const Json verdict =
        json_of({"verify", plan_, "--topology", box_, "--json"}, "forestcoll-verify.schema.json");
    const Json& operation = report["steps"][0]["operations"][0];
    EXPECT_EQ(verdict["algbw"], operation["plan"]["algbw"]);
    EXPECT_EQ(verdict["compute_nodes"], 8);
    return operation;
  }

  Scratch scratch_;
  std::string box_ = scratch_ / "box.json", plan_ = scratch_ / "plan.json";
};
using SynthJointPlanLong = SynthJointPlan;
using SynthJointPlanLongest = SynthJointPlan;

TEST_F(SynthJointPlanLong, OfFourPairsWithRelaysIsAtTheOptimum) {
  const Json operation = written({"-c", "allreduce", "--groups", "MOD 4", "--relays"});
  EXPECT_EQ(operation["rate"]["exact"], "256");
  EXPECT_EQ(operation["plan"]["algbw"]["exact"], "256");
  EXPECT_EQ(operation["plan"]["file"], plan_);
  EXPECT_EQ(operation["schedules"].size(), 4);
  EXPECT_FALSE(operation["schedules"][0].contains("file"));
  EXPECT_EQ(Json::parse(read_file(plan_))["process_groups"],
            Json({{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
  const auto said = run_well({"verify", plan_, "--topology", box_});
  EXPECT_THAT(said.out, AllOf(HasSubstr("allreduce over 8 ranks in 4 process groups at once"),
                              HasSubstr("algbw on the topology: 256 GB/s")));
}

// Known answers, of members alone and with relays.
struct RateCase {
  std::string collective, groups;
  bool relays;
  std::string rate;
};
const std::vector<RateCase> kRates = {
    {"allgather", "DIV 2", true, "512"},        {"reduce_scatter", "DIV 2", true, "512"},
    {"allgather", "DIV 4", true, "1280/3"},     {"reduce_scatter", "DIV 4", true, "1280/3"},
    {"allreduce", "DIV 2", false, "64"},        {"allgather", "MOD 4", false, "128"},
    {"allgather", "[[7,0],[2,3,4]]", true, ""}, {"reduce_scatter", "[[6,5,4]]", true, ""},
    {"allreduce", "[[1,0]]", true, "448"},      {"allreduce", "[[3,1],[2,0],[5]]", true, ""},
};
const std::vector<RateCase> kRatesOfMany = {{"allreduce", "DIV 4", true, "640/3"},
                                            {"allreduce", "DIV 4", false, "128"},
                                            {"allreduce", "[[0,1],[2,3,4]]", true, ""}};

// At the joint optimum, which is the known one.
void expect_rate(const RateCase& of, const Json& operation) {
  EXPECT_EQ(operation["plan"]["algbw"], operation["rate"]) << of.collective << of.groups;
  if (of.rate.empty()) return;
  EXPECT_EQ(operation["rate"]["exact"], of.rate) << of.collective << of.groups;
}

Words words_of(const RateCase& of, const char* placement) {
  Words words{"-c", of.collective, "--groups", of.groups, placement};
  if (of.relays) words.emplace_back("--relays");
  return words;
}

// Each collective in place and out of place.
TEST_F(SynthJointPlanLong, ReachTheJointOptimum) {
  for (std::size_t i = 0; i < kRates.size(); ++i) {
    const RateCase& each = kRates[i];
    expect_rate(each, written(words_of(each, i % 3 == 0 ? "--inplace" : "--outofplace")));
  }
}
TEST_F(SynthJointPlanLongest, ReachTheJointOptimum) {
  for (const auto& cases : {kRates, kRatesOfMany}) {
    for (const RateCase& each : cases) {
      expect_rate(each, written(words_of(each, "--inplace")));
      expect_rate(each, written(words_of(each, "--outofplace")));
    }
  }
}

TEST_F(SynthJointPlanLong, IsSimulated) {
  const auto seconds = [&](const Words& words) {
    run_well(synth(joined({"-c", "allgather", "--groups", "DIV 2"}, words)));
    const Json report = json_of({"simulate", plan_, box_, "--sizes", "1G", "--json"});
    const Json& time = report["times"].back();
    EXPECT_DOUBLE_EQ(time["simulated_busbw"].get<double>(),
                     time["simulated_algbw"].get<double>() / 2);  // of two ranks
    return time["simulated_seconds"].get<double>();
  };
  const double alone = seconds({}), relayed = seconds({"--relays"});
  EXPECT_GT(alone / relayed, 3);
  EXPECT_LT(alone / relayed, 4.01);
}

TEST_F(SynthJointPlanLong, SameInputSameBytes) {
  const Words words = synth({"-c", "allgather", "--groups", "DIV 4", "--relays"});
  run_well(words);
  const std::string first = read_file(plan_);
  run_well(words);
  EXPECT_EQ(first, read_file(plan_));
}

// Boxes, NICs and ports: GPUs pass data on to their NICs.
TEST_F(SynthJointPlanLong, RelaysLendTheirNics) {
  const auto ran = json_of({"synth", topology("dgx-a100-x2"), "-c", "allreduce", "--groups",
                            "[[0,8]]", "--relays", "--format", "mscclpp", "-o", plan_, "--json"},
                           "forestcoll-job.schema.json");
  EXPECT_EQ(ran["steps"][0]["operations"][0]["rate"]["exact"], "200");
  EXPECT_EQ(ran["steps"][0]["operations"][0]["plan"]["algbw"]["exact"], "200");
  const auto said = run_well({"verify", plan_, "--topology", topology("dgx-a100-x2")});
  EXPECT_THAT(said.out, HasSubstr("in 1 process group at once"));
}

// A group's data through a rank that is of another: verify knows whose it is.
TEST_F(SynthJointPlanLong, GroupsThatWereChangedAreFound) {
  run_well(synth({"-c", "allgather", "--groups", "MOD 4", "--relays"}));
  Json plan = Json::parse(read_file(plan_));
  plan["process_groups"] = {{0, 5}, {1, 4}, {2, 6}, {3, 7}};
  const std::string changed = scratch_.write("changed.json", plan.dump());
  const auto wrong = run({"verify", changed});
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.out, HasSubstr("[V17]"));
}

TEST_F(SynthJointPlanLong, WhatCannotBeIsRefusedAndWritesNothing) {
  const Words pairs{"-c", "allreduce", "--groups", "MOD 4"};
  const auto with = [&](const Words& more) { return synth(joined(pairs, more)); };
  const std::string directory = scratch_ / "none";
  const std::vector<Misuse> misuses = {
      {with({"--size", "1M"}), "[S04]"},
      {with({"--algorithm", "ring"}), "--algorithm"},
      {with({"--proto", "LL"}), "--proto"},
      {with({"--tune", "1K:1M"}), "--tune"},
      {synth({"--at-once", "allreduce MOD4", "--at-once", "allgather DIV4"}), "several operations"},
      {synth({"-c", "broadcast", "--root", "0", "--groups", "MOD 4"}), "[T06]"},
      {synth({"-c", "alltoall", "--groups", "MOD 4"}), "[T06]"},
      {with({"--max-bytes", "64G"}), "[T04]"},
      {with({"--threadblocks", "0"}), "[S0"},
      {{"synth", box_, "-c", "allreduce", "--groups", "MOD 4", "--relays", "--format", "mscclpp",
        "-o", directory},
       "-o FILE.json"},
      {{"synth", box_, "-c", "allreduce", "--groups", "MOD 4", "--relays", "-o", directory},
       "--format mscclpp -o FILE.json"},
      {{"synth", box_, "-c", "allreduce", "--groups", "MOD 4", "--format", "mscclpp"}, "NAME.json"},
  };
  for (const Misuse& misuse : misuses) {
    const auto ran = run(misuse.arguments);
    EXPECT_NE(ran.code, 0) << misuse.says;
    EXPECT_NE(ran.code, 70) << misuse.says;
    EXPECT_THAT(ran.err, HasSubstr(misuse.says));
    EXPECT_EQ(ran.out, "");
    EXPECT_FALSE(std::filesystem::exists(directory)) << misuse.says;
    EXPECT_FALSE(std::filesystem::exists(plan_)) << misuse.says;
  }
}

}  // namespace
}  // namespace forestcoll::testing
