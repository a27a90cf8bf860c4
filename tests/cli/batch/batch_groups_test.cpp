// `forestcoll batch` of process groups that run at once: a directory of schedules for each
// topology, as `synth` writes it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/batch.hpp"
#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

namespace fs = std::filesystem;

using Words = std::vector<std::string>;

// All of `directory`, and the report of `synth` without what it says of times.
std::map<std::string, std::string> written_by_synth(const BatchDirectories& batch,
                                                    const std::string& input, const Words& words) {
  const std::string directory = batch / "by_synth";
  fs::remove_all(directory);
  run_well(joined({"synth", batch.in() + "/" + input, "-q", "-o", directory}, words));
  return files_below(directory);
}

TEST(BatchGroupsLong, WritesWhatSynthWrites) {
  for (const Words& words : {Words{"-c", "allreduce", "--groups", "MOD 2", "-k", "1"},
                             {"-c", "allgather", "--groups", "DIV 4", "--format", "forest"},
                             {"-c", "alltoall", "--groups", "[[0,1],[2,3]]", "--format", "mscclpp"},
                             {"-c", "broadcast", "--groups", "DIV 4", "--root", "1"}}) {
    const BatchDirectories batch;
    batch.add("box.json", read_file(topology("dgx-a100-x1")));
    ASSERT_EQ(batch.run(words).code, 0);
    EXPECT_EQ(files_below(batch.out() + "/box.json/" + words[1]),
              written_by_synth(batch, "box.json", words))
        << words[1];
    EXPECT_EQ(batch.items()[0]["collective"], words[1]);
    run_well({"verify", batch.out() + "/box.json/" + words[1] + "/job.json", "--topology",
              topology("dgx-a100-x1")});
  }
}

TEST(BatchGroupsLong, TopologiesThatGroupsDoNotFitFailAlone) {
  const BatchDirectories batch;
  batch.add("one.json", read_file(topology("dgx-a100-x1")));
  batch.add("two.json", read_file(topology("dgx-a100-x2")));
  const Words words = {"--mesh",           "tp=8,dp=2", "--at-once",
                       "allgather tp 64M", "--at-once", "allreduce dp 128M"};
  const auto result = batch.run(words);
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("has 16 points, and the fabric 8 ranks [O06]"));
  const auto items = batch.items();
  ASSERT_EQ(items.size(), 2);
  EXPECT_EQ(items[0]["error"]["code"], "O06");
  EXPECT_EQ(items[1]["status"], "ok");
  EXPECT_EQ(items[1]["collective"], "job");
  EXPECT_EQ(items[1]["optimum"]["exact"], "25");
  EXPECT_EQ(items[1]["reached"]["exact"], "25");
  EXPECT_EQ(items[1]["optimum_fraction"], 1);
  EXPECT_EQ(items[1]["outputs"].size(), 2 * (2 + 8) + 1);
  EXPECT_THAT(read_file(batch.out() + "/report.csv"),
              HasSubstr("two.json,job,azure,auto,ok,two.json/job,,25,25,1,"));
  EXPECT_EQ(files_below(batch.out() + "/two.json/job"), written_by_synth(batch, "two.json", words));
}

// Of the largest buffers of both steps by the time of both: 3 GB at 200, and 1 GB at 300 GB/s.
TEST(BatchGroups, StepsHaveOneRate) {
  const BatchDirectories batch;
  batch.add("box.json", read_file(topology("dgx-a100-x1")));
  std::ofstream(batch / "job.json") << R"({"format": "forestcoll-job", "version": 1, "steps": [
    {"operations": [{"collective": "allreduce", "groups": "DIV 4", "bytes": 1000000000}],
     "repeat": 3},
    {"operations": [{"collective": "allreduce", "groups": "DIV 2", "bytes": 1000000000}]}]})";
  const auto result = batch.run({"--job", batch / "job.json", "--format", "none"});
  ASSERT_EQ(result.code, 0) << result.err;
  const auto item = batch.items()[0];
  EXPECT_EQ(item["optimum"]["exact"], "2400/11");
  EXPECT_EQ(item["reached"]["exact"], "2400/11");
  EXPECT_EQ(item["optimum_fraction"], 1);
  EXPECT_TRUE(item["outputs"].empty());
}

TEST(BatchGroupsLong, WhatIsThereOfTheSameIsNotMadeAgain) {
  const BatchDirectories batch;
  batch.add("box.json", read_file(topology("dgx-a100-x1")));
  const std::string groups = batch / "groups.json";
  const auto statuses = [&](const std::string& text) {
    std::ofstream(groups) << text;
    EXPECT_EQ(batch.run({"-c", "allgather", "--groups", groups, "-k", "1"}).code, 0);
    return batch.items()[0]["status"];
  };
  EXPECT_EQ(statuses("[[0,1],[2,3]]"), "ok");
  EXPECT_EQ(statuses("[[0,1],[2,3]]"), "cached");
  EXPECT_EQ(statuses("[[0,1]]"), "ok") << "the file has other groups now";
  const std::string directory = batch.out() + "/box.json/allgather";
  EXPECT_FALSE(fs::exists(directory + "/0-allgather-1.xml")) << "of the groups before";
  fs::copy_file(batch.out() + "/report.json", batch / "before.json");
  std::ofstream(groups) << "[[0,2],[4,6]]";
  const auto changed = batch.run({"-c", "allgather", "--groups", groups, "-k", "1", "--baseline",
                                  batch / "before.json", "--fail-on", "changed"});
  EXPECT_EQ(changed.code, 1);
  EXPECT_THAT(changed.err, HasSubstr("file box.json/allgather: "));
  EXPECT_EQ(statuses("[[0,1]]"), "ok");
  std::ofstream(directory + "/0-allgather-0.xml") << "damaged";
  EXPECT_EQ(statuses("[[0,1]]"), "ok");
  fs::remove(directory + "/job.json");
  EXPECT_EQ(statuses("[[0,1]]"), "ok");
  EXPECT_EQ(statuses("[[0,1]]"), "cached");
}

TEST(BatchGroups, FilesOfOthersStay) {
  const BatchDirectories batch;
  batch.add("box.json", read_file(topology("dgx-a100-x1")));
  const Words words = {"-c", "allgather", "--groups", "MOD 4", "-k", "1"};
  const std::string directory = batch.out() + "/box.json/allgather";
  ASSERT_EQ(batch.run(words).code, 0);
  std::ofstream(directory + "/notes") << "mine";
  const auto before = files_below(directory);
  const auto result = batch.run(words);
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("has other files than those of a batch: notes [S04]"));
  EXPECT_EQ(files_below(directory), before);
}

TEST(BatchGroupsLong, RelaysHaveOnePlanOfAllGroups) {
  const BatchDirectories batch;
  batch.add("box.json", read_file(topology("dgx-a100-x1")));
  const Words words = {"-c",       "allgather", "--groups", "DIV 2", "--relays",
                       "--format", "mscclpp",   "-k",       "1"};
  ASSERT_EQ(batch.run(words).code, 0);
  const std::string plan = batch.out() + "/box.json/allgather.json";
  EXPECT_EQ(batch.items()[0]["outputs"][0]["path"], "box.json/allgather.json");
  run_well({"verify", plan, "--topology", topology("dgx-a100-x1")});
  ASSERT_EQ(batch.run(words).code, 0);
  EXPECT_EQ(batch.items()[0]["status"], "cached");
  ASSERT_EQ(batch.run({"-c", "allgather", "--groups", "DIV 2", "--relays", "-k", "1"}).code, 1);
  EXPECT_EQ(batch.items()[0]["error"]["code"], "S04");
}

TEST(BatchGroupsLong, ShardsAreMergedWithTheirDirectories) {
  const BatchDirectories batch;
  batch.add("a.json", read_file(topology("dgx-a100-x1")));
  batch.add("b.json", read_file(topology("torus-4x4")));
  const Words words = {"-c", "allgather", "--groups", "DIV 4", "-k", "1"};
  ASSERT_EQ(batch.run(words).code, 0);
  const auto whole = files_below(batch.out(), true);
  for (const std::string shard : {"1/2", "2/2"}) {
    run_well(joined(
        {"batch", batch.in(), "-o", batch / ("shard" + shard.substr(0, 1)), "--shard", shard},
        words));
  }
  run_well({"batch", "merge", batch / "shard1", batch / "shard2", "-o", batch / "merged"});
  EXPECT_EQ(files_below(batch / "merged", true), whole);
  const auto again = run_well(joined({"batch", batch.in(), "-o", batch / "merged"}, words));
  EXPECT_THAT(again.err, HasSubstr("2 items: 0 made, 2 reused"));
}

TEST(BatchGroupsLong, AManifestHasGroupsOfItsOwn) {
  const BatchDirectories batch;
  batch.add("a.json", read_file(topology("dgx-a100-x1")));
  batch.add("b.json", read_file(topology("dgx-a100-x1")));
  std::ofstream(batch / "manifest.json")
      << R"({"format": "forestcoll-batch-manifest", "version": 1, "topologies": [
        {"path": "a.json", "options": ["--groups", "MOD 4"], "collectives": ["allgather"]},
        {"path": "b.json", "options": ["--at-once", "allgather DIV4"]}]})";
  const auto result = batch.run({"--manifest", batch / "manifest.json", "--format", "none"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(batch.statuses(),
            (std::map<std::string, std::string>{{"a.json allgather", "ok"}, {"b.json job", "ok"}}));
}

// Said once, and nothing is made.
TEST(BatchGroups, WordsThatAreWrongForAllTopologies) {
  const BatchDirectories batch;
  batch.add("a.json", read_file(topology("dgx-a100-x1")));
  batch.add("b.json", read_file(topology("dgx-a100-x2")));
  std::ofstream(batch / "twice.json") << "[[0,1],[1,2]]";
  std::ofstream(batch / "job.json") << R"({"format": "forestcoll-job", "version": 2, "steps": []})";
  for (const auto& [words, says] : std::vector<std::pair<Words, std::string>>{
           {{"--groups", "MODULO 8"}, "expected groups, found \"MODULO 8\""},
           {{"--groups", "[[0,1],[]]"}, "/groups/1: a group has no ranks [O05]"},
           {{"--groups", batch / "twice.json"}, "rank 1 is in two groups at once [O04]"},
           {{"--mesh", "tp=8", "--groups", "dp"}, "the mesh has no axis \"dp\""},
           {{"--mesh", "tp=0", "--groups", "tp"}, "expected axes with sizes"},
           {{"--at-once", "allgather MOD"}, "[O02]"},
           {{"--job", batch / "job.json"}, "/version: expected 1, found 2 [O01]"}}) {
    const auto result = batch.run(words);
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr(says));
    EXPECT_THAT(result.err, Not(HasSubstr("[1/2]")));
    EXPECT_FALSE(fs::exists(batch.out()));
  }
  std::ofstream(batch / "manifest.json")
      << R"({"format": "forestcoll-batch-manifest", "version": 1, "topologies": [
        {"path": "a.json"}, {"path": "b.json", "options": ["--groups", "MODULO 8"]}]})";
  const auto listed = batch.run({"--manifest", batch / "manifest.json"});
  EXPECT_EQ(listed.code, 2);
  EXPECT_THAT(listed.err, HasSubstr("b.json: expected groups, found"));
}

TEST(BatchGroups, WordsThatDoNotGoTogether) {
  const BatchDirectories batch;
  batch.add("box.json", read_file(topology("dgx-a100-x1")));
  for (const auto& [words, says] : std::vector<std::pair<Words, std::string>>{
           {{"--groups", "all", "--at-once", "allgather all"}, "do not go together [S04]"},
           {{"-c", "allreduce", "--at-once", "allgather all"}, "are of --groups alone [S04]"},
           {{"--root", "0", "--at-once", "allgather all"}, "are of --groups alone [S04]"},
           {{"--groups", "-"}, "--groups -: every topology would read it [S04]"},
           {{"--groups", ""}, "--groups: expected groups, found nothing [O02]"},
           {{"--mesh", "tp=8"}, "--mesh and --mesh-order are of groups [S04]"},
           {{"--relays"}, "--relays needs --members, or groups [S04]"},
           {{"--groups", "all", "--members", "0-3"}, "--members does not go with"},
           {{"--groups", "all", "--format", "nccl-tuner"}, "--format nccl-tuner does not go"}}) {
    const auto result = batch.run(words);
    EXPECT_EQ(result.code, 2) << says;
    EXPECT_THAT(result.err, HasSubstr(says));
  }
  EXPECT_EQ(batch.run({"--groups", "missing.json"}).code, 4);
}

}  // namespace
}  // namespace forestcoll::testing
