// `forestcoll synth` of process groups that run at once, from outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

using Words = std::vector<std::string>;

Words synth(const std::string& fabric, const Words& words, const std::string& directory) {
  Words all{"synth", topology(fabric), "-o", directory, "--json"};
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

// The report of what was written; each schedule is verified, and all of them together.
nlohmann::json written(const std::string& fabric, const Words& words,
                       const std::string& directory) {
  const auto report = json_of(synth(fabric, words, directory), "forestcoll-job.schema.json");
  EXPECT_EQ(nlohmann::json::parse(read_file(directory + "/job.json")), report);
  const auto verdict =
      json_of({"verify", directory + "/job.json", "--topology", topology(fabric), "--json"},
              "forestcoll-verify-job.schema.json");
  EXPECT_EQ(verdict["at_once"], true);
  std::size_t operation = 0;
  for (const auto& step : report["steps"]) {
    for (const auto& each : step["operations"]) {
      const auto& checked = verdict["operations"][operation++];
      EXPECT_EQ(checked["schedule_count"], each["schedules"].size());
      double least = each["schedules"][0]["algbw"]["value"];
      for (const auto& schedule : each["schedules"]) {
        least = std::min(least, schedule["algbw"]["value"].get<double>());
      }
      EXPECT_DOUBLE_EQ(checked["algbw"]["value"].get<double>(), least);
    }
  }
  return report;
}

TEST(SynthGroupsLong, RailsAtTheJointOptimum) {
  const Scratch scratch;
  const auto report =
      written("dgx-a100-x2", {"-c", "allreduce", "--groups", "MOD 8"}, scratch / "rails");
  const auto& operation = report["steps"][0]["operations"][0];
  EXPECT_EQ(operation["rate"]["exact"], "25");
  ASSERT_EQ(operation["schedules"].size(), 8);
  std::set<std::string> texts;
  for (const auto& schedule : operation["schedules"]) {
    EXPECT_EQ(schedule["algbw"]["exact"], "25");
    texts.insert(read_file(scratch / ("rails/" + schedule["file"].get<std::string>())));
  }
  EXPECT_EQ(texts.size(), 1) << "one program for communicators that are alike";
}

TEST(SynthGroups, SayWhichFileIsWhose) {
  const Scratch scratch;
  const auto written = run_well({"synth", topology("dgx-a100-x1"), "-c", "allgather", "--groups",
                                 "MOD 4", "-k", "1", "-o", scratch / "pairs"});
  EXPECT_THAT(written.err, HasSubstr("  0-allgather-0.xml for ranks 0,4\n"
                                     "  0-allgather-1.xml for ranks 1,5\n"));
}

// What was made for a changed fabric is verified on the fabric with the same changes.
TEST(SynthGroups, TheNextCommandHasTheChanges) {
  const Scratch scratch;
  const std::string fabric = topology("dgx-a100-x1"), directory = scratch / "left";
  const auto written = run_well({"synth", fabric, "-c", "allgather", "--groups", "MOD 2", "-k", "1",
                                 "--drop", "gpu0", "--derate", "gpu1~nvsw=1/2", "-o", directory});
  EXPECT_THAT(written.err,
              HasSubstr("next: forestcoll verify " + directory + "/job.json --topology " + fabric +
                        " --drop gpu0 --derate 'gpu1~nvsw=1/2'\n"));
  run_well({"verify", directory + "/job.json", "--topology", fabric, "--drop", "gpu0", "--derate",
            "gpu1~nvsw=1/2"});
}

// Trees of all operations fill the links together at the proved rate.
TEST(SynthGroupsLong, ForestsOfAMeshReachTheOptimum) {
  const Scratch scratch;
  const auto report =
      written("dgx-a100-x2",
              {"--mesh", "tp=8,dp=2", "--at-once", "allgather tp", "--at-once", "allreduce dp",
               "--at-once", "reduce_scatter all", "--format", "forest", "-k", "optimal"},
              scratch / "mesh");
  for (const auto& operation : report["steps"][0]["operations"]) {
    for (const auto& schedule : operation["schedules"]) {
      EXPECT_GE(schedule["algbw"]["value"].get<double>(),
                operation["rate"]["value"].get<double>() * (1 - 1e-12))
          << operation["name"];
    }
  }
}

// Fractions of GB/s that others computed, of the largest buffer; forests and flows are verified
// together at just these.
TEST(SynthGroupsLong, ForestsReachKnownAnswers) {
  struct Known {
    std::string fabric;
    Words words;
    std::string rate;
  };
  const std::vector<Known> known = {
      {"dgx-a100-x2", {"-c", "allreduce", "--groups", "[[0,8]]", "--relays"}, "200"},
      {"dgx-a100-x2", {"--at-once", "allgather all", "--at-once", "reduce_scatter all"}, "520/3"},
      {"dgx-a100-x2", {"--at-once", "allgather all 2", "--at-once", "alltoall all 1"}, "80"},
      {"dgx-h100-x4-rail", {"-c", "allreduce", "--groups", "[[0,8,16,24]]", "--relays"}, "800/3"},
      {"dgx-h100-x4-rail",
       {"--at-once", "allreduce MOD8 1", "--at-once", "allgather DIV8 4"},
       "400/3"},
      {"torus-4x4", {"--at-once", "allgather DIV4", "--at-once", "allreduce MOD4"}, "4/3"},
      {"mi250-x1", {"-c", "allreduce", "--groups", "DIV 8", "--relays"}, "500/3"},
      {"mi250-x1", {"-c", "allreduce", "--groups", "DIV 8"}, "150"},
  };
  const Scratch scratch;
  for (std::size_t i = 0; i < known.size(); ++i) {
    Words words = known[i].words;
    words.insert(words.end(), {"--format", "forest", "-k", "optimal"});
    const auto report = written(known[i].fabric, words, scratch / std::to_string(i));
    EXPECT_EQ(report["steps"][0]["rate"]["exact"], known[i].rate) << i;
    for (const auto& operation : report["steps"][0]["operations"]) {
      for (const auto& schedule : operation["schedules"]) {
        EXPECT_GE(schedule["algbw"]["value"].get<double>(),
                  operation["rate"]["value"].get<double>() * (1 - 1e-12))
            << i << operation["name"];
      }
    }
  }
}

TEST(SynthGroupsLong, PlansAndRootsAndAlltoalls) {
  const Scratch scratch;
  const auto plans = written(
      "dgx-a100-x2", {"-c", "allreduce", "--groups", "[[0,1,2],[8,9,10]]", "--format", "mscclpp"},
      scratch / "plans");
  EXPECT_EQ(plans["steps"][0]["operations"][0]["schedules"].size(), 2);
  // XML has no scatter: what is written by default is a plan, and called so.
  written("dgx-a100-x2", {"-c", "scatter", "--root", "0", "--groups", "DIV 8"},
          scratch / "scatter");
  EXPECT_TRUE(std::filesystem::exists(scratch / "scatter/0-scatter-1.json"));
  written("mi250-x1", {"-c", "broadcast", "--root", "2", "--groups", "DIV 8"}, scratch / "roots");
  written("dgx-a100-x2",
          {"--at-once", "alltoall [[0,1,8,9],[2,3,10,11]] 64M", "--at-once", "allreduce MOD8 64M"},
          scratch / "experts");
}

TEST(SynthGroupsLong, StepsHaveFoldersOfTheirOwn) {
  const Scratch scratch;
  const std::string job = scratch.write("job.json", R"({"format": "forestcoll-job", "version": 1,
    "steps": [{"name": "a", "operations": [{"collective": "allgather", "groups": "DIV 8"}]},
              {"name": "b", "operations": [{"collective": "allreduce", "groups": "MOD 8"}]}]})");
  written("dgx-a100-x2", {"--job", job, "--format", "forest"}, scratch / "steps");
  EXPECT_TRUE(std::filesystem::exists(scratch / "steps/0/0-allgather-1.json"));
  EXPECT_TRUE(std::filesystem::exists(scratch / "steps/1/0-allreduce-7.topology.json"));
}

TEST(SynthGroupsLong, SameInputSameBytes) {
  const Scratch scratch;
  const Words words{"--mesh",    "tp=8,dp=2",        "--at-once", "allgather tp 64M",
                    "--at-once", "allreduce dp 64M", "--format",  "forest"};
  written("dgx-a100-x2", words, scratch / "one");
  written("dgx-a100-x2", words, scratch / "two");
  for (const auto& entry : std::filesystem::directory_iterator(scratch / "one")) {
    const std::string name = entry.path().filename();
    EXPECT_EQ(read_file(entry.path()), read_file(scratch / ("two/" + name))) << name;
  }
}

// What was written and then changed is found, file by file and all together.
TEST(SynthGroupsLong, VerifyFindsWhatWasChanged) {
  const Scratch scratch;
  const std::string directory = scratch / "rails";
  written("dgx-a100-x2", {"-c", "allreduce", "--groups", "MOD 8", "--format", "forest"}, directory);
  const auto verify = [&](const Words& more) {
    Words all{"verify", directory + "/job.json"};
    all.insert(all.end(), more.begin(), more.end());
    return run(all);
  };
  const auto alone = verify({});
  EXPECT_EQ(alone.code, 0) << alone.err;
  EXPECT_THAT(alone.out, HasSubstr("with --topology"));
  const auto slower =
      verify({"--topology", topology("dgx-a100-x2"), "--derate", "box0/nic3~ib1=1/2"});
  EXPECT_EQ(slower.code, 1);
  EXPECT_THAT(slower.out, HasSubstr("[O09]"));
  const auto elsewhere = verify({"--topology", topology("dgx-1-v100")});
  EXPECT_EQ(elsewhere.code, 1);
  EXPECT_THAT(elsewhere.out, HasSubstr("[O09]"));
  EXPECT_EQ(verify({"--target", "all"}).code, 2);

  const std::string part = directory + "/0-allreduce-3.topology.json";
  std::filesystem::copy_file(directory + "/0-allreduce-4.topology.json", part,
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_EQ(verify({}).code, 1) << "trees of other GPUs";
  std::filesystem::remove(part);
  EXPECT_EQ(verify({}).code, 4);
  std::ofstream(directory + "/job.json") << R"({"format": "forestcoll-job", "steps": [{}]})";
  const auto broken = verify({});
  EXPECT_EQ(broken.code, 2);
  EXPECT_THAT(broken.err, HasSubstr("[O01]"));
}

double seconds_of(const Words& words) {
  Words all{"simulate"};
  all.insert(all.end(), words.begin(), words.end());
  all.insert(all.end(), {"--json", "--gpu", "ideal"});
  const auto json = json_of(all);
  if (!json.contains("steps")) return json["times"][0]["simulated_seconds"];
  expect_valid(json, "forestcoll-simulation-job.schema.json");
  return json["steps"][0]["times"][0]["simulated_seconds"];
}

// Groups that share no link take at once what one of them takes.
TEST(SynthGroupsLong, ThatShareNothingTakeTheTimeOfOne) {
  const Scratch scratch;
  for (const std::string format : {"msccl", "mscclpp", "forest"}) {
    const std::string directory = scratch / format;
    written("dgx-a100-x2", {"-c", "allgather", "--groups", "DIV 8", "--format", format}, directory);
    const std::string base = directory + "/0-allgather-0.";
    const double one = seconds_of(
        {base + (format == "msccl" ? "xml" : "json"), base + "topology.json", "--sizes", "64M"});
    const double all =
        seconds_of({directory + "/job.json", topology("dgx-a100-x2"), "--sizes", "64M"});
    EXPECT_NEAR(all, one, 1e-6 * one) << format;
  }
}

// Nothing is faster at once than the joint optimum, nor than the slowest by itself; forests and
// flows of many bytes come near it.
TEST(SynthGroupsLong, ThatShareLinksTakeWhatTheOptimumSays) {
  const Scratch scratch;
  const std::string directory = scratch / "shared";
  const auto report =
      written("dgx-a100-x2",
              {"--at-once", "reduce_scatter all 1G", "--at-once", "allgather all 2G", "--at-once",
               "alltoall MOD8 512M", "--format", "forest"},
              directory);
  const double bound =
      (std::int64_t{2} << 30) / 1e9 / report["steps"][0]["rate"]["value"].get<double>();
  const double all = seconds_of({directory + "/job.json", topology("dgx-a100-x2")});
  EXPECT_GE(all, bound * (1 - 2e-3));
  EXPECT_LE(all, bound * 1.1);
  const double alone =
      seconds_of({directory + "/0-reduce_scatter-0.json",
                  directory + "/0-reduce_scatter-0.topology.json", "--sizes", "1G"});
  EXPECT_LE(alone, bound * 1.1) << "each in its part is done in time";
}

// Of two equal operations the one with twice the weight is done first; what is told of the step is
// when the other one is.
TEST(SynthGroupsLong, WeightsAndTurnsAreSimulated) {
  const Scratch scratch;
  const std::string directory = scratch / "weights";
  const auto report = written("dgx-a100-x1",
                              {"--at-once", "allgather all 1G", "--at-once",
                               "allgather all 1G weight=2", "--format", "forest"},
                              directory);
  const auto json =
      json_of({"simulate", directory + "/job.json", topology("dgx-a100-x1"), "--json"},
              "forestcoll-simulation-job.schema.json");
  const auto& step = json["steps"][0];
  EXPECT_DOUBLE_EQ(step["rate"]["value"].get<double>(),
                   report["steps"][0]["operations"][0]["rate"]["value"].get<double>());
  EXPECT_EQ(step["times"][0]["bytes"], std::int64_t{1} << 30);
  const double in_turn = step["times"][0]["simulated_seconds_in_turn"];
  EXPECT_NEAR(in_turn, step["times"][0]["simulated_seconds"].get<double>(), 0.1 * in_turn);
  EXPECT_GT(step["times"][0]["runtime_simulated_seconds_in_turn"].get<double>(), in_turn)
      << "rings are slower";
}

// Groups that share no link take as long at once as one of them alone in `compare`, which finds
// smaller buffers for large sizes, too.
TEST(SynthGroupsLong, RingsOfARuntimeBesideOurs) {
  const Scratch scratch;
  const std::string directory = scratch / "quads", fabric = topology("dgx-a100-x1");
  written("dgx-a100-x1", {"-c", "allreduce", "--groups", "DIV 4"}, directory);
  const auto ran =
      run({"simulate", directory + "/job.json", fabric, "--sizes", "64K,64M", "--json"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  const auto json = nlohmann::json::parse(ran.out);
  expect_valid(json, "forestcoll-simulation-job.schema.json");
  const auto alone = run({"compare", fabric, "--ranks", "0-3", "-c", "allreduce", "--algorithms",
                          "nccl-ring", "--sizes", "64K,64M", "--json"});
  ASSERT_EQ(alone.code, 0) << alone.err;
  const auto expected = nlohmann::json::parse(alone.out)["rows"][0]["program_times"];
  const auto& times = json["steps"][0]["times"];
  EXPECT_FALSE(times[0].contains("runtime_simulated_seconds_in_turn")) << "of one operation";
  const auto seconds = [](const nlohmann::json& time, const char* key) {
    return time[key].get<double>();
  };
  const double small = seconds(expected[0], "simulated_seconds"),
               large = seconds(expected[1], "simulated_seconds");
  EXPECT_NEAR(seconds(times[0], "runtime_simulated_seconds"), small, 1e-6 * small);
  EXPECT_GE(seconds(times[1], "runtime_simulated_seconds"), large * (1 - 1e-6));
  EXPECT_LE(seconds(times[1], "runtime_simulated_seconds"), large * 1.1);
}

TEST(SynthGroupsLong, OtherFabricsAreNotSimulated) {
  const Scratch scratch;
  const std::string directory = scratch / "rails";
  written("dgx-a100-x2", {"-c", "allreduce", "--groups", "MOD 8", "--format", "forest"}, directory);
  expect_says(2, {"simulate", directory + "/job.json", topology("dgx-1-v100")}, "[M04]");
  std::filesystem::remove(directory + "/0-allreduce-3.json");
  EXPECT_EQ(run({"simulate", directory + "/job.json", topology("dgx-a100-x2")}).code, 4);
}

// Data that goes one way leaves all that leads back to others: each group still has a topology.
TEST(SynthGroupsLong, OperationsOfOneWayHaveWaysBack) {
  const Scratch scratch;
  const Words exchange{"--at-once", "broadcast [[0,1]] root=0", "--at-once",
                       "broadcast [[1,0]] root=0"};
  written("dgx-a100-x1", exchange, scratch / "exchange");
  const auto report = written(
      "dgx-a100-x2",
      {"--at-once", "broadcast all root=0", "--at-once", "reduce all root=0", "--format", "forest"},
      scratch / "both");
  for (const auto& operation : report["steps"][0]["operations"]) {
    EXPECT_GE(operation["schedules"][0]["algbw"]["value"].get<double>(),
              operation["rate"]["value"].get<double>() * (1 - 1e-4));
  }
  written(
      "torus-4x4",
      {"--at-once", "scatter all root=0", "--at-once", "gather all root=0", "--format", "flows"},
      scratch / "paths");
}

// Three GPUs divide no power of two; pairs may have unequal amounts.
TEST(SynthGroupsLong, OddGroupsAndUnequalAmounts) {
  const Scratch scratch;
  written("dgx-a100-x1", {"--at-once", "allgather [[0,1,2],[3,4,5]] 64M"}, scratch / "odd");
  const std::string job = scratch.write("job.json", R"({"format": "forestcoll-job", "version": 1,
    "steps": [{"name": "experts", "operations": [{"collective": "alltoall",
      "groups": [[0, 1, 2], [8, 9, 10]], "demand": [[0, 1000, 5], [500, 0, 7], [0, 1, 0]]}]}]})");
  const std::string directory = scratch / "uneven";
  written("dgx-a100-x2", {"--job", job, "--format", "flows"}, directory);
  EXPECT_GT(seconds_of({directory + "/job.json", topology("dgx-a100-x2")}), 0);
}

// What job.json says is checked before it is used.
TEST(SynthGroupsLong, ReportsThatWereChangedAreRefused) {
  const Scratch scratch;
  const std::string directory = scratch / "rails";
  const auto report = written(
      "dgx-a100-x2", {"-c", "allreduce", "--groups", "MOD 8", "--format", "forest"}, directory);
  const auto at = [](const char* pointer) { return nlohmann::json::json_pointer(pointer); };
  const std::vector<std::pair<const char*, nlohmann::json>> changes = {
      {"/version", 2},
      {"/steps", nlohmann::json::array()},
      {"/steps/0/operations", nlohmann::json::array()},
      {"/steps/0/operations/0/schedules", nlohmann::json::array()},
      {"/steps/0/operations/0/schedules/3/group", 4},
      {"/steps/0/operations/0/schedules/3/group", -1},
      {"/steps/0/operations/0/schedules/3/group", 99},
      {"/steps/0/operations/0/groups/0/0", -1},
      {"/steps/0/operations/0/groups/0/0", 4294967303},
      {"/steps/0/operations/0/groups/0/0", 0.5},
      {"/steps/0/operations/0/rate/value", -5},
      {"/steps/0/operations/0/rate/value", 1e300},
      {"/steps/0/rate/value", 0},
      {"/steps/0/operations/0/schedules/0/file", 1},
  };
  for (const auto& [pointer, value] : changes) {
    auto changed = report;
    changed[at(pointer)] = value;
    std::ofstream(directory + "/job.json") << changed;
    for (const Words& command :
         {Words{"verify", directory + "/job.json"},
          Words{"simulate", directory + "/job.json", topology("dgx-a100-x2")}}) {
      const auto ran = run(command);
      EXPECT_EQ(ran.code, 2) << pointer << value;
      EXPECT_THAT(ran.err, HasSubstr("[O01]")) << pointer << value;
    }
  }
  expect_says(2, {"verify", "-"}, "[O01]", {.input = report.dump()});
}

TEST(SynthGroupsLong, ThreadblocksOfOneGpuAddUp) {
  const Scratch scratch;
  const std::string directory = scratch / "three";
  const Words three{"--at-once",          "allgather all", "--at-once",
                    "reduce_scatter all", "--at-once",     "allreduce all"};
  const auto report = written("dgx-a100-x1", three, directory);
  int all = 0;
  for (const auto& operation : report["steps"][0]["operations"]) {
    all += operation["schedules"][0]["threadblocks"].get<int>();
  }
  const auto enough = run({"verify", directory + "/job.json", "--sms", std::to_string(all)});
  EXPECT_EQ(enough.code, 0) << enough.out;
  const auto few = run({"verify", directory + "/job.json", "--sms", std::to_string(all - 1)});
  EXPECT_EQ(few.code, 1);
  EXPECT_THAT(few.out, HasSubstr("[O09]"));
  Words words = synth("dgx-a100-x1", three, scratch / "none");
  words.insert(words.end(), {"--sms", "2"});
  expect_says(2, words, "[S03]");
}

TEST(SynthGroupsLong, BadWordsAreRefusedAndWriteNothing) {
  const Scratch scratch;
  std::filesystem::create_directory(scratch / "full");
  scratch.write("full/file", "");
  const std::string directory = scratch / "none";
  const Words groups{"-c", "allreduce", "--groups", "MOD 8"};
  const auto with = [&](Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const std::vector<Misuse> misuses = {
      {with({"synth", topology("dgx-a100-x2")}, groups), "[S04]"},
      {with({"synth", topology("dgx-a100-x2"), "-o", scratch / "full"}, groups), "[S04]"},
      {synth("dgx-a100-x2", with(groups, {"--format", "none"}), directory), "[S04]"},
      {synth("dgx-a100-x2", with(groups, {"--tune", "1K:1M"}), directory), "--tune"},
      {synth("dgx-a100-x2", with(groups, {"--members", "0,1"}), directory), "--members"},
      {synth("dgx-a100-x2", with(groups, {"--at-once", "allreduce all"}), directory), "[S04]"},
      {synth("dgx-a100-x2", {"-c", "allreduce", "--at-once", "allreduce all"}, directory), "[S04]"},
      {synth("dgx-a100-x2", {"--groups", "[[0,1],[1,2]]"}, directory), "[O04]"},
      {synth("dgx-a100-x2", {"--groups", "[[0,99]]"}, directory), "[O03]"},
      {synth("dgx-a100-x2", {"--mesh", "tp=8"}, directory), "[S04]"},
      {synth("dgx-a100-x2", {"--relays"}, directory), "[S04]"},
      {synth("dgx-a100-x2", with(groups, {"--relays"}), directory), "--relays"},
      {synth("dgx-a100-x2",
             {"-c", "scatter", "--root", "0", "--groups", "DIV 8", "--format", "msccl"}, directory),
       "[T06]"},
  };
  for (const Misuse& misuse : misuses) {
    const auto ran = run(misuse.arguments);
    EXPECT_NE(ran.code, 0) << misuse.says;
    EXPECT_NE(ran.code, 70) << misuse.says;
    EXPECT_THAT(ran.err, HasSubstr(misuse.says));
    EXPECT_TRUE(has_no_report(ran)) << ran.out;
    EXPECT_FALSE(std::filesystem::exists(directory)) << misuse.says;
  }
}

}  // namespace
}  // namespace forestcoll::testing
