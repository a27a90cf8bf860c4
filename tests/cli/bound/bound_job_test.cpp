// `forestcoll bound` of process groups that run at once, from outside.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

using Words = std::vector<std::string>;

Words bound(const std::string& fabric, const Words& words) {
  Words all{"bound", topology(fabric)};
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

nlohmann::json report_of(const std::string& fabric, Words words) {
  words.insert(words.end(), {"--json", "--check"});
  const auto json = json_of(bound(fabric, words), "forestcoll-job.schema.json");
  EXPECT_EQ(json["checked"], true);
  return json;
}

std::string rate_of(const nlohmann::json& report) {
  return report["steps"][0]["rate"]["exact"].get<std::string>();
}

TEST(BoundJobLong, GroupsByColour) {
  const Words rails{"-c", "allreduce", "--groups", "MOD 8"};
  const auto report = report_of("dgx-a100-x2", rails);
  EXPECT_EQ(report["format"], "forestcoll-job");
  EXPECT_EQ(rate_of(report), "25");
  EXPECT_EQ(report["relays"], false);
  EXPECT_FALSE(report.contains("seconds"));
  EXPECT_EQ(report["steps"][0]["operations"][0]["groups"].size(), 8);
  EXPECT_EQ(report["steps"][0]["alone"][0]["rate"]["exact"], "25");
}

// A name that reads as a colour is an axis where the mesh has it.
TEST(BoundJobLong, AxesGoBeforeColours) {
  const Words by_axis{"-c", "allgather", "--mesh", "mod8=16", "--groups", "mod8"};
  const auto report = report_of("dgx-a100-x2", by_axis);
  EXPECT_EQ(report["steps"][0]["operations"][0]["groups"].size(), 1);
}

// What a script leaves empty is not taken for the whole fabric.
TEST(BoundJobLong, RefusesNoGroups) {
  const auto ran =
      expect_says(2, bound("dgx-a100-x2", {"-c", "allgather", "--groups", ""}), "[O02]");
  EXPECT_EQ(ran.out, "");
}

// Bytes that nothing divides: what each operation gets is a number, if no fraction of 64 bits.
TEST(BoundJobLong, RatesOfOddBytesAreNeverZero) {
  const auto report =
      report_of("dragonfly-72", {"--at-once", "alltoall all 1000000007", "--at-once",
                                 "allreduce [[0,1,2,5,9],[3,4,7]] 999999937"});
  const auto& step = report["steps"][0];
  for (const auto& operation : step["operations"]) EXPECT_GT(operation["rate"]["value"], 0);
  EXPECT_GE(step["rate"]["value"], step["in_turn"]["rate"]["value"]);
}

TEST(BoundJobLong, RelaysLendTheirLinks) {
  const Words one_rail{"-c", "allreduce", "--groups", "[[0,8]]"};
  EXPECT_EQ(rate_of(report_of("dgx-a100-x2", one_rail)), "25");
  Words relayed = one_rail;
  relayed.emplace_back("--relays");
  const auto report = report_of("dgx-a100-x2", relayed);
  EXPECT_EQ(rate_of(report), "200");
  EXPECT_EQ(report["relays"], true);
}

TEST(BoundJobLong, AllCollectivesWithoutAName) {
  const auto report = report_of("torus-4x4", {"--groups", "DIV 4"});
  ASSERT_EQ(report["steps"].size(), 3);
  EXPECT_EQ(report["steps"][0]["name"], "allgather");
  EXPECT_EQ(report["steps"][0]["rate"]["exact"], "8/3");
  EXPECT_EQ(report["steps"][2]["name"], "allreduce");
}

TEST(BoundJobLong, RootsAreRanksOfTheGroup) {
  const auto report =
      report_of("dgx-a100-x2", {"-c", "broadcast", "--groups", "%8", "--root", "1"});
  EXPECT_EQ(rate_of(report), "25");
  EXPECT_EQ(report["steps"][0]["operations"][0]["root"], 1);
}

TEST(BoundJobLong, OperationsOfAMeshAtOnce) {
  const Words step{"--mesh",           "tp=8,dp=2", "--at-once",
                   "allgather tp 64M", "--at-once", "allreduce dp 1G"};
  const auto report = report_of("dgx-a100-x2", step);
  EXPECT_EQ(rate_of(report), "25");
  EXPECT_NEAR(report["seconds"].get<double>(), 1.073741824 / 25, 1e-9);
  EXPECT_EQ(report["steps"][0]["operations"][0]["rate"]["exact"], "25/16");
  EXPECT_LT(report["steps"][0]["seconds"], report["steps"][0]["in_turn"]["seconds"]);
  const auto text = run(bound("dgx-a100-x2", step));
  EXPECT_THAT(text.out, HasSubstr("allreduce dp 1G   8 of 2 "));
  EXPECT_THAT(text.out, HasSubstr("at once: 25 GB/s of the largest, 42.95 ms"));
  EXPECT_THAT(text.out, HasSubstr("one after the other: 24.895 (41600/1671) GB/s"));
  EXPECT_THAT(text.out, HasSubstr("filled by allreduce dp 1G"));
  EXPECT_THAT(text.err, Not(HasSubstr("in-network multicast and reduction")));
}

TEST(BoundJobLong, SaysWhereSwitchesCouldDoMore) {
  const Words rails{"-c", "allreduce", "--groups", "MOD 8"};
  EXPECT_EQ(report_of("dgx-h100-x4-rail", rails)["without_switch_copies"], true);
  EXPECT_THAT(run(bound("dgx-h100-x4-rail", rails)).err,
              HasSubstr("in-network multicast and reduction"));
}

TEST(BoundJobLong, StepsOfAFile) {
  const Scratch scratch;
  const std::string text = R"({"format": "forestcoll-job", "version": 1, "mesh": "dp=2,tp=8",
    "mesh_order": "device-mesh", "steps": [
      {"name": "layer", "repeat": 10, "operations": [
        {"collective": "allgather", "groups": "tp", "bytes": "64M"},
        {"collective": "allreduce", "groups": "dp", "bytes": "1G"}]},
      {"operations": [{"collective": "alltoall", "bytes": 1000000}]}]})";
  expect_valid(nlohmann::json::parse(text), "forestcoll-job-file.schema.json");
  const auto report = report_of("dgx-a100-x2", {"--job", scratch.write("job.json", text)});
  ASSERT_EQ(report["steps"].size(), 2);
  EXPECT_EQ(report["steps"][0]["repeat"], 10);
  EXPECT_EQ(report["steps"][1]["rate"]["exact"], "50");
  EXPECT_NEAR(report["seconds"].get<double>(), 10 * 1.073741824 / 25 + 1e6 / 50e9, 1e-9);
}

TEST(BoundJobLong, WhoCanHaveMoreAndWeights) {
  const Words job{"--mesh",           "tp=8,dp=2", "--at-once",
                  "allgather tp 64M", "--at-once", "allreduce dp 128M"};
  EXPECT_THAT(run(bound("dgx-a100-x2", job)).out,
              HasSubstr("more without taking from the others: allgather tp 64M "));
  const auto report = report_of("dgx-a100-x2", job);
  const auto& step = report["steps"][0];
  EXPECT_EQ(step["operations"][1]["max_min"]["exact"], "25");
  EXPECT_EQ(step["operations"][0]["rate"]["exact"], "25/2");
  EXPECT_EQ(step["max_min_proofs"].size(), 1);
  EXPECT_EQ(step["max_min_proofs"][0]["operations"][0], 0);
  // Twice the rate for as many bytes, and done in half the time.
  const auto weighted = report_of(
      "dgx-a100-x1", {"--at-once", "allgather all 64M", "--at-once", "allgather all 64M weight=2"});
  const auto& operations = weighted["steps"][0]["operations"];
  EXPECT_EQ(operations[1]["weight"], 2);
  EXPECT_DOUBLE_EQ(operations[1]["rate"]["value"].get<double>(),
                   2 * operations[0]["rate"]["value"].get<double>());
  EXPECT_NEAR(weighted["steps"][0]["seconds"].get<double>(),
              64e6 * 1.048576 / (operations[0]["rate"]["value"].get<double>() * 1e9), 1e-12);
  // Rates times seconds are bytes, of each operation and in turn.
  for (const auto& operation : operations) {
    EXPECT_NEAR(operation["rate"]["value"].get<double>() * operation["seconds"].get<double>(),
                0.064 * 1.048576, 1e-12);
  }
  const auto& in_turn = weighted["steps"][0]["in_turn"];
  EXPECT_NEAR(in_turn["rate"]["value"].get<double>() * in_turn["seconds"].get<double>(),
              0.064 * 1.048576, 1e-12);
  expect_says(2, bound("dgx-a100-x1", {"--at-once", "allgather all 64M weight=0"}),
              "expected a weight, found 0 [O07]");
}

TEST(BoundJobLong, AChakraTraceWithItsCommunicators) {
  const Scratch scratch;
  const auto node = [](int id, int comm_type, const char* group) {
    return fmt::format(
        R"({{"id": "{}", "type": "COMM_COLL_NODE", "attr": [
          {{"name": "comm_type", "int64Val": "{}"}},
          {{"name": "comm_size", "int64Val": "1048576"}},
          {{"name": "pg_name", "stringVal": "{}"}}]}})",
        id, comm_type, group);
  };
  const std::string trace =
      scratch.write("trace.json", "{\"version\": \"0.0.4\"}" + node(1, 0, "1") + node(2, 7, "3"));
  const std::string groups = scratch.write(
      "groups.json",
      R"({"1": [0,1,2,3,4,5,6,7], "2": [8,9,10,11,12,13,14,15], "3": [0, 8], "4": [1, 9]})");
  const auto ran = expect_says(
      0, bound("dgx-a100-x2", {"--job", trace, "--groups", groups, "--json"}), "are a step");
  const auto report = nlohmann::json::parse(ran.out);
  const auto& operations = report["steps"][0]["operations"];
  ASSERT_EQ(operations.size(), 2);
  EXPECT_EQ(operations[0]["groups"].size(), 2);
  EXPECT_EQ(operations[1]["groups"], nlohmann::json::parse("[[0, 8], [1, 9]]"));
  expect_says(2, bound("dgx-a100-x2", {"--job", trace, "--groups", "{\"1\": [0, 1]}"}),
              "pg_name: there is no communicator \"3\" [O02]");
}

TEST(BoundJobLong, GroupsOfAFile) {
  const Scratch scratch;
  const Words of_file{"-c", "allreduce", "--groups",
                      scratch.write("groups.json", "{\"1\": [0, 8], \"2\": [1, 9]}")};
  EXPECT_EQ(rate_of(report_of("dgx-a100-x2", of_file)), "25");
  const auto missing = run(bound("dgx-a100-x2", {"--groups", scratch / "none.json"}));
  EXPECT_EQ(missing.code, 4);
}

TEST(BoundJobLong, IsTheSameTextEveryTime) {
  const auto words = bound("mi250-x1", {"--groups", "/8", "--relays", "--json"});
  EXPECT_EQ(run(words).out, run(words).out);
}

TEST(BoundJobLong, RefusesWhatMakesNoSense) {
  const Scratch scratch;
  const std::string job =
      scratch.write("job.json",
                    R"({"format": "forestcoll-job", "version": 1, "mesh": "tp=16", "steps": [
         {"operations": [{"collective": "allgather", "groups": [[0, 1], [1, 2]]}]}]})");
  const std::vector<Misuse> wrong = {
      {{"--groups", "[[0,0]]"}, "twice in a group [O04]"},
      {{"--groups", "[[0,1],[1,2]]"}, "in two groups at once [O04]"},
      {{"--groups", "[[0,99]]"}, "/groups/0/1: expected a rank from 0 to 15, found 99 [O03]"},
      {{"--groups", "[[0,1],[]]"}, "[O05]"},
      {{"--groups", "MOD"}, "[O02]"},
      {{"--groups", "tp"}, "[O02]"},
      {{"--mesh", "tp=3", "--groups", "tp"}, "[O06]"},
      {{"--mesh", "tp=16", "--groups", "dp"}, "its axes are tp"},
      {{"--mesh", "tp=16", "--mesh-order", "c", "--groups", "tp"}, "--mesh-order: expected"},
      {{"--at-once", "allgathr all"}, "[O07]"},
      {{"--at-once", "allgather all 1M", "--at-once", "allgather all"}, "[O07]"},
      {{"--groups", "%8", "-c", "broadcast"}, "broadcast needs a root"},
      {{"--groups", "%8", "-c", "broadcast", "--root", "x"}, "[S02]"},
      {{"--groups", "%8", "-c", "alltoallv"}, "[S04]"},
      {{"--groups", "%8", "--members", "0-3"}, "--members does not go with"},
      {{"--groups", "%8", "--target", "azure"}, "--target does not go with"},
      {{"--groups", "%8", "--whatif"}, "--whatif does not go with"},
      {{"--groups", "%8", "--job", job}, "do not go together, but for a Chakra trace"},
      {{"--at-once", "allgather all", "-c", "allgather"}, "[S04]"},
      {{"--mesh", "tp=16"}, "[S04]"},
      {{"--mesh-order", "megatron", "--groups", "%8"}, "--mesh-order needs --mesh"},
      {{"--relays"}, "--relays needs --members, or groups"},
      {{"--job", job}, "job.json: /steps/0/operations/0/groups/1/0: rank 1 is in two groups"},
      {{"--job", job, "--mesh", "tp=16"}, "[S04]"}};
  for (const auto& [words, says] : wrong) {
    const auto ran = run(bound("dgx-a100-x2", words));
    EXPECT_EQ(ran.code, 2) << words.back();
    EXPECT_THAT(ran.err, HasSubstr(says));
    EXPECT_EQ(ran.out, "");
  }
  expect_says(2, bound("torus-4x4", {"--groups", "[[0,10]]"}), "--relays");
}

// The order that keeps the heavy axis within boxes, whatever the order of the mesh.
TEST(BoundJobLong, PlacesHeavyAxesWithinBoxes) {
  const Words job{"--at-once", "allgather tp 1G", "--at-once", "allreduce dp 64M", "--place"};
  for (const std::string mesh : {"tp=8,dp=2", "dp=2,tp=8"}) {
    Words words{"--mesh", mesh};
    words.insert(words.end(), job.begin(), job.end());
    const auto report = report_of("dgx-a100-x2", words);
    ASSERT_EQ(report["placements"].size(), 2);
    EXPECT_EQ(report["placements"][0]["order"], nlohmann::json({"tp", "dp"}));
    const double best = report["placements"][0]["seconds"];
    EXPECT_LT(best, report["placements"][1]["seconds"]);
    EXPECT_NEAR(report["seconds"], best, 1e-12 * best);
    // Each order by itself, as the mesh that it is.
    for (const auto& placement : report["placements"]) {
      const bool tp_first = placement["order"][0] == "tp";
      Words alone{"--mesh", tp_first ? "tp=8,dp=2" : "dp=2,tp=8"};
      alone.insert(alone.end(), job.begin(), job.end() - 1);
      const double seconds = report_of("dgx-a100-x2", alone)["seconds"];
      EXPECT_NEAR(placement["seconds"], seconds, 1e-12 * seconds);
    }
    // Rank 1 is the next of tp, or of dp.
    EXPECT_EQ(report["ranks"][1], mesh == "tp=8,dp=2" ? "box0/gpu1" : "box1/gpu0");
  }
}

TEST(BoundJobLong, PlacesWithoutBytesAndSaysWhatItCannot) {
  const auto text = run_well(bound(
      "dgx-a100-x2", {"-c", "allreduce", "--mesh", "tp=4,cp=2,dp=2", "--groups", "tp", "--place"}));
  EXPECT_THAT(text.out, HasSubstr("what follows is of tp,cp,dp"));
  const std::vector<Misuse> misuses = {
      {bound("dgx-a100-x2", {"--place"}), "[S04]"},
      {bound("dgx-a100-x2", {"-c", "allreduce", "--groups", "MOD 8", "--place"}), "no mesh"},
      {bound("dgx-a100-x2", {"--mesh", "tp=8,dp=2", "--groups", "tp", "--place"}), "[S04]"},
      {bound("torus-8x8x8", {"-c", "allreduce", "--mesh", "a=2,b=2,c=2,d=2,e=2,f=2,g=8", "--groups",
                             "a", "--place"}),
       "[O06]"},
  };
  for (const Misuse& misuse : misuses) {
    const auto ran = expect_says(2, misuse.arguments, misuse.says);
    EXPECT_EQ(ran.out, "");
  }
}

}  // namespace
}  // namespace forestcoll::testing
