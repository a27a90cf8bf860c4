// `forestcoll batch` from outside: what is found, made and reused.
#include "cli/batch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

TEST(BatchLong, MakesWhatSynthMakes) {
  const BatchDirectories batch;
  batch.add("a100.json", read_file(topology("dgx-a100-x2")));
  batch.add("deep/er/small.json", small_topology());
  const auto result = batch.run({"-c", "allreduce,allgather"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("4 items: 4 made, 0 reused, 0 failed, 0 skipped"));
  const auto files = files_below(batch.out());
  EXPECT_THAT(keys(files),
              ElementsAre("a100.json/allgather.xml", "a100.json/allreduce.xml",
                          "deep/er/small.json/allgather.xml", "deep/er/small.json/allreduce.xml"));
  for (const auto& [path, bytes] : files) {
    const auto input = batch.in() + "/" + fs::path(path).parent_path().string();
    const auto synth =
        run_well({"synth", "-k", "auto", input, "-q", "-c", fs::path(path).stem().string()});
    EXPECT_EQ(bytes, synth.out) << path;
  }
  const auto item = batch.report()["items"][1];
  EXPECT_EQ(item["input"], "a100.json");
  EXPECT_EQ(item["collective"], "allreduce");
  EXPECT_EQ(item["status"], "ok");
  EXPECT_EQ(item["algbw"]["exact"], "1200/7");
  EXPECT_DOUBLE_EQ(item["optimum_fraction"], (1200.0 / 7) / (520.0 / 3));
  EXPECT_EQ(item["max_height"], 2);
  EXPECT_EQ(item["outputs"][0]["path"], "a100.json/allreduce.xml");
  EXPECT_EQ(item["outputs"][0]["bytes"], files.at("a100.json/allreduce.xml").size());
  EXPECT_TRUE(item["error"].is_null());
}

TEST(BatchLong, TheOptimumIsOneExactly) {
  const BatchDirectories batch;
  batch.add("pair.json", pair_topology("1"));
  ASSERT_EQ(batch.run({"-c", "allgather"}).code, 0);
  EXPECT_EQ(batch.report()["items"][0]["optimum_fraction"], 1.0);
}

TEST(BatchLong, TheOptimumOfAnAllreduceHasBothPhasesAtOnce) {
  const BatchDirectories batch;
  batch.add("islands.json", island_topology());
  const auto first = batch.run({});
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.err, HasSubstr("2 GB/s, 100 % of the optimum, height"));
  const auto report = batch.report();
  expect_valid(report, "forestcoll-batch.schema.json");
  EXPECT_EQ(report["items"][0]["optimum_fraction"], 1.0);
  EXPECT_GT(report["items"][0]["algbw"]["value"], 1.5);
  ASSERT_EQ(batch.run({}).code, 0);  // what is read back is the same
  auto again = batch.report()["items"][0];
  EXPECT_EQ(again["status"], "cached");
  EXPECT_EQ(again["algbw"], report["items"][0]["algbw"]);
  EXPECT_EQ(again["optimum_fraction"], 1.0);
}

TEST(BatchLong, ReusesWhatIsThereAndOfTheSame) {
  const BatchDirectories batch;
  batch.add("a.json", pair_topology("10"));
  batch.add("b.json", pair_topology("20"));
  ASSERT_EQ(batch.run().code, 0);
  const auto before = files_below(batch.out(), true);
  const auto report = batch.report();
  const auto again = batch.run();
  EXPECT_EQ(again.code, 0);
  EXPECT_THAT(again.err, HasSubstr("2 items: 0 made, 2 reused"));
  EXPECT_EQ(files_below(batch.out(), true), before);
  auto expected = without_seconds(report);
  for (auto& item : expected["items"]) item["status"] = "cached";
  expected["counts"] = {{"items", 2}, {"ok", 0}, {"failed", 0}, {"cached", 2}, {"skipped", 0}};
  EXPECT_EQ(without_seconds(batch.report()), expected);

  // The same topology, written otherwise.
  batch.add("a.json", pair_topology(R"("80 Gb/s")") + "\n\n");
  ASSERT_EQ(batch.run().code, 0);
  EXPECT_THAT(batch.statuses(),
              ElementsAre(Pair("a.json allreduce", "cached"), Pair("b.json allreduce", "cached")));
  // Another topology; then other options; then by force.
  batch.add("a.json", pair_topology("11"));
  ASSERT_EQ(batch.run().code, 0);
  EXPECT_THAT(batch.statuses(),
              ElementsAre(Pair("a.json allreduce", "ok"), Pair("b.json allreduce", "cached")));
  ASSERT_EQ(batch.run({"--instances", "2"}).code, 0);
  EXPECT_EQ(batch.report()["counts"]["ok"], 2);
  ASSERT_EQ(batch.run({"--instances", "2"}).code, 0);
  EXPECT_EQ(batch.report()["counts"]["cached"], 2);
  ASSERT_EQ(batch.run({"--instances", "2", "--force"}).code, 0);
  EXPECT_EQ(batch.report()["counts"]["ok"], 2);
}

// A solver may change under an unchanged version.
TEST(BatchLong, ReusesNothingThatAnotherProgramMade) {
  const BatchDirectories batch;
  batch.add("a.json", pair_topology("10"));
  ASSERT_EQ(batch.run().code, 0);
  const std::string other = batch / "forestcoll", same = batch / "copy";
  fs::copy_file(program_path(), other);
  fs::copy_file(program_path(), same);
  std::ofstream(other, std::ios::binary | std::ios::app) << '\0';
  const std::string program = batch.report()["program"];
  ASSERT_EQ(batch.run({}, {.program = same}).code, 0);
  EXPECT_THAT(batch.statuses(), ElementsAre(Pair("a.json allreduce", "cached")));
  EXPECT_EQ(batch.report()["program"], program) << "wherever it lies";
  ASSERT_EQ(batch.run({}, {.program = other}).code, 0);
  EXPECT_THAT(batch.statuses(), ElementsAre(Pair("a.json allreduce", "ok")));
  EXPECT_NE(batch.report()["program"], program);
  ASSERT_EQ(batch.run({}, {.program = other}).code, 0);
  EXPECT_THAT(batch.statuses(), ElementsAre(Pair("a.json allreduce", "cached")));
}

TEST(BatchLong, MakesDamagedOutputsAnew) {
  const BatchDirectories batch;
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    batch.add(std::string(name) + ".json", pair_topology("10"));
  }
  ASSERT_EQ(batch.run().code, 0);
  const auto whole = files_below(batch.out(), true);
  const auto path = [&](const std::string& name) { return batch.out() + "/" + name; };
  // One byte changed; cut off; gone; the record changed in one digit; the record is another's.
  std::string text = whole.at("a.json/allreduce.xml");
  text[text.size() / 2] ^= 1;
  std::ofstream(path("a.json/allreduce.xml"), std::ios::binary) << text;
  fs::resize_file(path("b.json/allreduce.xml"), 10);
  fs::remove(path("c.json/allreduce.xml"));
  std::string record = whole.at("d.json/.allreduce.xml.batch");
  record.replace(record.find("\"height\":") + 9, 1, "7");
  std::ofstream(path("d.json/.allreduce.xml.batch"), std::ios::binary) << record;
  const auto result = batch.run();
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(batch.statuses(),
              ElementsAre(Pair("a.json allreduce", "ok"), Pair("b.json allreduce", "ok"),
                          Pair("c.json allreduce", "ok"), Pair("d.json allreduce", "ok"),
                          Pair("e.json allreduce", "cached")));
  EXPECT_THAT(result.err, HasSubstr("what was there was damaged"));
  EXPECT_EQ(files_below(batch.out(), true), whole);
}

TEST(BatchLong, NamesWhatIsBrokenWithCodeAndPlace) {
  const BatchDirectories batch;
  batch.add("good.json", small_topology());
  const std::vector<std::string> broken = {
      "e01-not-json", "e01-truncated", "e01-latin1", "e02-no-nodes", "e02-wrong-format",
      "e03-node",     "e02-pair",      "e01-nan",    "e02-units",    "e03-range"};
  for (const std::string& name : broken) {
    batch.add(name + ".json", read_file(source_path("tests/malformed/" + name + ".json")));
  }
  const auto result = batch.run();
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(fs::exists(batch.out() + "/good.json/allreduce.xml"));
  const auto report = batch.report();
  EXPECT_EQ(report["counts"]["failed"], broken.size());
  for (const auto& item : report["items"]) {
    if (item["input"] == "good.json") continue;
    EXPECT_EQ(item["status"], "failed");
    const auto check =
        run({"topo", "check", "--json", batch.in() + "/" + item["input"].get<std::string>()});
    const auto finding = nlohmann::json::parse(check.out)["files"][0]["findings"][0];
    EXPECT_EQ(item["error"]["code"], finding["code"]) << item;
    EXPECT_EQ(item["error"]["where"], finding["where"]) << item;
    EXPECT_THAT(item["error"]["message"].get<std::string>(), Not(IsEmpty()));
    EXPECT_FALSE(fs::exists(batch.out() + "/" + item["input"].get<std::string>()));
  }
  // Failures come first in the summary, and are told even to those who want to hear nothing.
  const auto summary = batch.run({"-q"}).err;
  EXPECT_THAT(summary, StartsWith("  failed  e01-latin1.json"));
  EXPECT_THAT(summary, HasSubstr("[E03]"));
}

TEST(BatchLong, FindsFilesWhateverLiesAround) {
  const BatchDirectories batch;
  const std::string in = batch.in();
  const std::string line_break = "line\nbreak, \"quoted\".json";
  for (const std::string& name :
       {std::string("a b.json"), line_break, std::string("dir.json/inside.json"),
        std::string("-rf.json"), std::string("[x]=%y.json"), std::string("bytes\xff.json")}) {
    batch.add(name, pair_topology("10"));
  }
  batch.add(".hidden.json", "no");
  batch.add(".git/config.json", "no");
  batch.add("a.schema.json", "no");
  batch.add("notes.txt", "no");
  fs::create_directory_symlink("..", in + "/dir.json/loop");
  fs::create_directory_symlink(".", in + "/self");
  fs::create_directories(batch / "elsewhere");
  std::ofstream(batch / "elsewhere/far.json") << pair_topology("10");
  fs::create_directory_symlink(batch / "elsewhere", in + "/linked");
  fs::create_symlink("a b.json", in + "/same.json");
  const auto result = batch.run();
  EXPECT_EQ(result.code, 0) << result.err;
  std::vector<std::string> inputs;
  for (const auto& item : batch.items()) inputs.push_back(item["input"]);
  EXPECT_THAT(inputs, UnorderedElementsAre("a b.json", line_break, "dir.json/inside.json",
                                           "-rf.json", "[x]=%y.json", "bytes\\xff.json",
                                           "linked/far.json", "same.json"));
  EXPECT_EQ(files_below(batch.out()).size(), inputs.size());
  EXPECT_THAT(result.err, HasSubstr("line\\nbreak"));
}

TEST(BatchLong, WhatIsNoFileIsAnError) {
  const BatchDirectories batch;
  ASSERT_EQ(mkfifo((batch.in() + "/pipe.json").c_str(), 0600), 0);
  fs::create_symlink("nowhere", batch.in() + "/dangling.json");
  EXPECT_EQ(batch.run().code, 1);
  const auto items = batch.report()["items"];
  ASSERT_EQ(items.size(), 2);
  EXPECT_EQ(items[0]["error"]["code"], "IO");
  EXPECT_EQ(items[1]["error"]["message"], "cannot read: it is no regular file");
}

TEST(BatchLong, OutputsInsideTheDirectoryAreNoInputs) {
  const BatchDirectories batch;
  batch.add("a.json", pair_topology("10"));
  const std::vector<std::string> words = {"batch",    batch.in(), "-o", batch.in() + "/out",
                                          "--format", "forest"};
  ASSERT_EQ(run(words).code, 0);
  expect_says(0, words, "1 item: 0 made, 1 reused");
}

TEST(BatchLong, IncludesAndExcludes) {
  const BatchDirectories batch;
  for (const char* name : {"a100.json", "h100.json", "old/a100.json", "new/b200.json"}) {
    batch.add(name, pair_topology("10"));
  }
  const auto inputs = [&](const std::vector<std::string>& words) {
    EXPECT_EQ(batch.run(words).code, 0);
    std::vector<std::string> found;
    for (const auto& item : batch.items()) found.push_back(item["input"]);
    return found;
  };
  EXPECT_THAT(inputs({"--include", "a100*"}), ElementsAre("a100.json", "old/a100.json"));
  EXPECT_THAT(inputs({"--include", "new/*", "--include", "h*"}),
              ElementsAre("h100.json", "new/b200.json"));
  EXPECT_THAT(inputs({"--exclude", "old"}), ElementsAre("a100.json", "h100.json", "new/b200.json"));
  EXPECT_THAT(inputs({"--include", "?100.json", "--exclude", "old/*"}),
              ElementsAre("a100.json", "h100.json"));
}

TEST(BatchLong, ImportsOtherFormatsOnDemand) {
  const BatchDirectories batch;
  batch.add("links.csv", read_file(source_path("tests/fuzz/corpus/import/links.csv")));
  batch.add("notes.txt", "remember the milk\n");
  const auto none = batch.run();
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, AllOf(HasSubstr("[J01]"), HasSubstr("--all")));
  EXPECT_EQ(batch.run({"--all"}).code, 0);
  EXPECT_THAT(batch.statuses(), ElementsAre(Pair("links.csv allreduce", "ok")));
}

TEST(BatchLong, LeavesOutMachinesAndItsOwnOutputs) {
  const BatchDirectories batch;
  batch.add("a.json", pair_topology("10"));
  batch.add("machine.json", R"({"format": "forestcoll-machine", "version": 1})");
  EXPECT_EQ(batch.run().code, 0);
  EXPECT_THAT(batch.statuses(), ElementsAre(Pair("a.json allreduce", "ok")));
  const Scratch scratch;
  scratch.write("a.json", pair_topology("10"));
  const auto into_itself = run({"batch", scratch / "", "-o", scratch / ""});
  EXPECT_EQ(into_itself.code, 2);
  EXPECT_THAT(into_itself.err, AllOf(HasSubstr("[J01]"), HasSubstr("name another one with -o")));
}

TEST(BatchLong, NamesTellTargetsAndTreesApart) {
  const BatchDirectories batch;
  batch.add("a.json", pair_topology("10"));
  ASSERT_EQ(batch.run({"--target", "azure,rccl-6", "-k", "auto,max:3"}).code, 0);
  EXPECT_THAT(keys(files_below(batch.out() + "/a.json")),
              ElementsAre("allreduce-azure-kauto.xml", "allreduce-azure-kmax-3.xml",
                          "allreduce-rccl-6-kauto.xml", "allreduce-rccl-6-kmax-3.xml"));
  EXPECT_EQ(batch.report()["items"][3]["target"], "rccl-6");
  EXPECT_EQ(batch.report()["items"][3]["asked_k"], "max:3");
}

// Before RCCL 6.3, counts per rank are multiples of all chunks.
TEST(BatchLong, FilesTellTheCountsOfTheirTarget) {
  const BatchDirectories batch;
  batch.add("a.json", pair_topology("10"));
  ASSERT_EQ(batch.run({"-c", "allgather", "--target", "rccl-6.2,rccl-6.3", "-k", "4"}).code, 0);
  const auto files = files_below(batch.out() + "/a.json");
  ASSERT_THAT(keys(files), ElementsAre("allgather-rccl-6.2.xml", "allgather-rccl-6.3.xml"));
  EXPECT_THAT(files.at("allgather-rccl-6.2.xml"), HasSubstr("that are multiples of 8 -->"));
  EXPECT_THAT(files.at("allgather-rccl-6.3.xml"), HasSubstr("that are multiples of 4 -->"));
}

TEST(BatchLong, OtherFormatsAndNone) {
  const BatchDirectories batch;
  batch.add("a.json", pair_topology("10"));
  ASSERT_EQ(batch.run({"--format", "forest"}).code, 0);
  EXPECT_EQ(batch.report()["items"][0]["asked_k"], "optimal");
  EXPECT_THAT(keys(files_below(batch.out())), ElementsAre("a.json/allreduce.json"));
  ASSERT_EQ(batch.run({"--format", "none"}).code, 0);
  EXPECT_THAT(batch.report()["items"][0]["outputs"], IsEmpty());
  EXPECT_EQ(batch.report()["items"][0]["status"], "ok");
  ASSERT_EQ(batch.run({"--format", "none"}).code, 0);
  EXPECT_EQ(batch.report()["items"][0]["status"], "cached");
}

TEST(BatchLong, TheRootIsForCollectivesThatHaveOne) {
  const BatchDirectories batch;
  batch.add("a.json", pair_topology("10"));
  EXPECT_EQ(batch.run({"-c", "allgather,broadcast", "--root", "gpu1"}).code, 0);
  EXPECT_EQ(batch.run({"-c", "broadcast"}).code, 2);
}

TEST(BatchLong, WrongUsageIsRefusedBeforeAnythingIsDone) {
  const BatchDirectories batch;
  batch.add("a.json", small_topology());
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong = {
      {{"--shard", "5/4"}, "--shard: expected I/N"},
      {{"--shard", "1"}, "--shard: expected I/N"},
      {{"-j", "0"}, "--jobs: expected a number"},
      {{"--memory", "12"}, "--memory: expected a size"},
      {{"--memory", "0G"}, "--memory: expected a size"},
      {{"--time-limit", "-1"}, "--time-limit: expected a positive"},
      {{"--allow", "file"}, "--allow has a meaning with --baseline"},
      {{"--allow", "speed", "--baseline", "x"}, "--allow: expected rate, height, file or item"},
      {{"--json", "--annotate"}, "both write to standard output"},
      {{"--in-process", "--time-limit", "1"}, "--in-process has none"},
      {{"--in-process", "--memory", "1G"}, "--in-process has none"},
      {{"--mpi", "--shard", "1/2"}, "--mpi shares the work out by itself"},
      {{"--manifest", "m", "--all"}, "--manifest lists the topologies"},
      {{"-k", "many"}, "-k: expected a number of trees"},
      {{"-c", "sum"}, "sum"},
      {{"--target", "abacus"}, "T07"},
      {{"--min-bytes", "9", "--max-bytes", "8"}, "--min-bytes"},
      {{"--warm", "x"}, "--warm"},
      {{"--tune", "1K"}, "--tune"}};
  for (const auto& [words, message] : wrong) {
    const auto result = batch.run(words);
    EXPECT_EQ(result.code, 2) << message << result.err;
    EXPECT_THAT(result.err, HasSubstr(message));
    EXPECT_FALSE(fs::exists(batch.out() + "/report.json"));
  }
  EXPECT_EQ(run({"batch"}).code, 2);
  EXPECT_THAT(run({"batch", batch.in()}).err, HasSubstr("-o is missing"));
  EXPECT_EQ(run({"batch", batch.in() + "/a.json", "-o", batch.out()}).code, 4);
  EXPECT_EQ(run({"batch", batch.in(), "-o", batch.in() + "/a.json"}).code, 4);
  EXPECT_EQ(run({"batch-worker"}, {.input = "nonsense"}).code, 2);
}

// A process that mpirun did not start is a run of its own, where MPI is built in.
TEST(BatchLong, MpiIsToldOfWhereItIsNotBuiltIn) {
  const BatchDirectories batch;
  batch.add("a.json", small_topology());
  const auto result = batch.run({"--mpi"});
  if (result.code == 0) {
    EXPECT_EQ(batch.items()[0]["status"], "ok");
  } else {
    EXPECT_EQ(result.code, 2);
    EXPECT_THAT(result.err, HasSubstr("built without MPI"));
  }
}

}  // namespace
}  // namespace forestcoll::testing
