// `forestcoll verify --groups`: one schedule in the place of every group.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/common/shared_limits.hpp"
#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

using Words = std::vector<std::string>;

// An allreduce of two GPUs, as a file.
std::string pair_schedule(const Scratch& scratch, const std::string& format = "msccl") {
  const std::string file = scratch / ("pair." + format);
  run_well({"synth", topology("dgx-a100-x1"), "--ranks", "0,1", "-k", "1", "--format", format, "-o",
            file});
  return file;
}

TEST(VerifyGroups, WhatEachHasAloneAndAllHaveAtOnce) {
  const Scratch scratch;
  const std::string file = pair_schedule(scratch);
  const Words rails = {"verify", file, "--topology", topology("dgx-a100-x2"), "--groups", "MOD 8"};
  EXPECT_EQ(run_well(rails).out,
            file +
                ": valid in each of 8 groups: allreduce over 2 ranks\n"
                "  algbw on the topology: 25 GB/s of one group by itself, 25 GB/s of each of all "
                "at once\n");
  const auto report = json_of(joined(rails, {"--json"}), "forestcoll-verify-job.schema.json");
  EXPECT_EQ(report["ok"], true);
  EXPECT_EQ(report["operations"][0]["name"], "allreduce MOD 8");
  EXPECT_EQ(report["operations"][0]["schedule_count"], 8);
  // Pairs of neighbours on an NVSwitch share no link.
  const auto mesh = json_of({"verify", file, "--topology", topology("dgx-a100-x1"), "--mesh",
                             "tp=2,dp=4", "--groups", "tp", "--json"},
                            "forestcoll-verify-job.schema.json");
  EXPECT_EQ(mesh["operations"][0]["schedule_count"], 4);
  EXPECT_EQ(mesh["operations"][0]["algbw"], mesh["operations"][0]["algbw_at_once"]);
}

// Both groups cross from rack to rack.
TEST(VerifyGroups, GroupsThatShareALinkHaveHalfOfIt) {
  const Scratch scratch;
  const std::string fabric = scratch.write("racks.json", racks_topology());
  const auto report = json_of(
      {"verify", pair_schedule(scratch), "--topology", fabric, "--groups", "MOD 2", "--json"},
      "forestcoll-verify-job.schema.json");
  EXPECT_EQ(report["operations"][0]["algbw"]["exact"], "10");
  EXPECT_EQ(report["operations"][0]["algbw_at_once"]["exact"], "5");
}

// Each pair receives half of its buffer through the bridge.
TEST(VerifyGroups, GroupsThatShareALimitHaveTheirPartOfIt) {
  const Scratch scratch;
  const std::string pair = scratch / "pair.xml";
  run_well({"synth", topology("dgx-a100-x1"), "--ranks", "0,1", "-c", "allgather", "-k", "1", "-o",
            pair});
  const auto report =
      json_of({"verify", pair, "--topology", scratch.write("way_in.json", kSharedWayIn), "--groups",
               "DIV 2", "--json"},
              "forestcoll-verify-job.schema.json");
  EXPECT_EQ(report["operations"][0]["algbw"]["exact"], "20");
  EXPECT_EQ(report["operations"][0]["algbw_at_once"]["exact"], "12");
}

// Pairs of boxes that are alike, and one that is not.
TEST(VerifyGroups, EveryGroupIsJudgedInItsOwnPlace) {
  const Scratch scratch;
  const auto report =
      json_of({"verify", pair_schedule(scratch), "--topology", topology("dgx-a100-x2"), "--groups",
               "[[0,8],[1,9],[2,3]]", "--json"},
              "forestcoll-verify-job.schema.json");
  EXPECT_EQ(report["operations"][0]["algbw"]["exact"], "25");
  EXPECT_EQ(report["operations"][0]["algbw_at_once"]["exact"], "25");
}

TEST(VerifyGroups, OperationsAreInTheirJob) {
  for (const char* option : {"--at-once", "--job"}) {
    for (const Words& words :
         {Words{"verify", "a.xml"}, {"simulate", "a.xml", "t.json"}, {"compare", "t.json"}}) {
      expect_says(2, joined(words, {option, "allreduce all"}),
                  "forestcoll synth TOPOLOGY " + std::string(option) + " ... -o DIR`, then `");
    }
  }
}

TEST(VerifyGroups, GroupsThatItDoesNotFitAreNamed) {
  const Scratch scratch;
  const std::string file = pair_schedule(scratch), torus = topology("torus-4x4");
  const Result result =
      run({"verify", file, "--topology", torus, "--groups", "[[0,1],[2,7],[4,5,6]]"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.out, HasSubstr("pair.msccl: group 1 (ranks 2,7): "));
  EXPECT_THAT(result.out, HasSubstr("pair.msccl: group 2 (ranks 4,5,6): it has 3 members, and the "
                                    "schedule is for 2 [O09]"));
  EXPECT_THAT(result.out, HasSubstr("invalid in 2 of 3 groups"));
  EXPECT_THAT(result.out, Not(HasSubstr("group 0")));
  EXPECT_THAT(run({"verify", file, "--topology", topology("dgx-a100-x2"), "--groups", "DIV 3"}).out,
              HasSubstr("  … and 1 group more\n"));
  EXPECT_THAT(run_well({"verify", file, "--topology", torus, "--groups", "[[0,1],[2]]"}).out,
              HasSubstr("valid in the group: allreduce over 2 ranks"));
  const Result json =
      run({"verify", file, "--topology", torus, "--groups", "[[0,1],[4,5,6]]", "--json"});
  EXPECT_EQ(json.code, 1);
  const auto report = nlohmann::json::parse(json.out);
  expect_valid(report, "forestcoll-verify-job.schema.json");
  EXPECT_EQ(report["ok"], false);
  EXPECT_EQ(report["findings"][0]["where"], "group 1 (ranks 4,5,6)");
}

TEST(VerifyGroups, AWrongScheduleIsWrongOnce) {
  const Scratch scratch;
  std::string text = read_file(pair_schedule(scratch));
  text.replace(text.find("type=\"s\""), 8, "type=\"nop\"");
  const std::string file = scratch.write("wrong.xml", text);
  const Result result =
      run({"verify", file, "--topology", topology("dgx-a100-x2"), "--groups", "MOD 8"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.out, HasSubstr("wrong.xml: invalid: "));
  EXPECT_THAT(result.out, Not(HasSubstr("group 0")));
}

TEST(VerifyGroups, WhatHasNoPlaceInEveryGroup) {
  const Scratch scratch;
  const std::string fabric = topology("dgx-a100-x1"), file = pair_schedule(scratch);
  const std::string forest = pair_schedule(scratch, "forest");
  const std::string plan = scratch / "plan.json", job = scratch / "groups";
  run_well({"synth", fabric, "-c", "allgather", "--groups", "DIV 2", "-k", "1", "--format",
            "mscclpp", "-o", plan});
  run_well({"synth", fabric, "-c", "allgather", "--groups", "DIV 2", "-k", "1", "-o", job});
  for (const auto& [words, says] : std::vector<std::pair<Words, std::string>>{
           {{forest, "--topology", fabric, "--groups", "DIV 2"},
            "forests and flows name their GPUs, and are of one group [S04]"},
           {{plan, "--topology", fabric, "--groups", "DIV 2"}, "this plan is of all its groups"},
           {{job + "/job.json", "--topology", fabric, "--groups", "DIV 2"},
            "--groups: job.json names its groups [S04]"},
           {{file, "--groups", "DIV 2"}, "--groups and --mesh are for the topology [S04]"},
           {{file, "--topology", fabric, "--mesh", "tp=8"},
            "--mesh and --mesh-order are of groups [S04]\n  add --groups\n"},
           {{file, "--topology", fabric, "--groups", "DIV 2", "--members", "0-3"},
            "--members is one group, and --groups has several [S04]"},
           {{file, "--topology", fabric, "--groups", "DIV 2", "--target", "all"},
            "--target all is for one group, not for --groups [S04]"},
           {{file, "--topology", fabric, "--groups", "[[0,1],[1,2]]"}, "[O04]"},
           {{file, "--topology", fabric, "--relays"},
            "--relays needs --members, or groups [S04]"}}) {
    expect_says(2, joined({"verify"}, words), says);
  }
}

}  // namespace
}  // namespace forestcoll::testing
