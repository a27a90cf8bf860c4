// `forestcoll batch` from outside: manifests, shards and how the work is shared out.
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

TEST(BatchLong, NoByteDependsOnHowItIsRun) {
  const BatchDirectories batch;
  batch.add("a100.json", read_file(topology("dgx-a100-x1")));
  batch.add("cube.json", read_file(topology("hypercube-16")));
  batch.add("bad.json", "{");
  for (int i = 1; i <= 5; ++i) {
    batch.add("p" + std::to_string(i) + ".json", pair_topology(std::to_string(i)));
  }
  std::map<std::string, std::string> files;
  nlohmann::json report;
  std::vector<std::string> texts;
  for (const std::vector<std::string>& how :
       {std::vector<std::string>{"-j", "1"}, {"-j", "3"}, {"--in-process", "-j", "2"}}) {
    fs::remove_all(batch.out());
    EXPECT_EQ(batch.run(how).code, 1);
    if (files.empty()) {
      files = files_below(batch.out(), true);
      report = without_seconds(batch.report());
      texts = {read_file(batch.out() + "/report.md")};
    }
    EXPECT_EQ(files_below(batch.out(), true), files) << how.front();
    EXPECT_EQ(without_seconds(batch.report()), report) << how.front();
    EXPECT_EQ(read_file(batch.out() + "/report.md"), texts.front()) << how.front();
  }
}

TEST(BatchLong, ShardsTogetherAreTheWhole) {
  const BatchDirectories batch;
  for (int i = 1; i <= 7; ++i) {
    batch.add("p" + std::to_string(i) + ".json", pair_topology(std::to_string(i)));
  }
  batch.add("bad.json", "{");
  ASSERT_EQ(batch.run().code, 1);
  const auto files = files_below(batch.out(), true);
  const auto report = without_seconds(batch.report());
  fs::remove_all(batch.out());

  // All in one directory.
  std::size_t items = 0;
  for (int i = 1; i <= 3; ++i) {
    const std::string shard = std::to_string(i);
    EXPECT_LE(batch.run({"--shard", shard + "/3"}).code, 1);
    const auto part =
        nlohmann::json::parse(read_file(batch.out() + "/report." + shard + "-of-3.json"));
    expect_valid(part, "forestcoll-batch.schema.json");
    EXPECT_GE(part["items"].size(), 2) << "the work is shared out evenly";
    items += part["items"].size();
  }
  EXPECT_EQ(items, 8);
  EXPECT_EQ(run({"batch", "merge", batch.out()}).code, 1);
  EXPECT_EQ(without_seconds(batch.report()), report);
  EXPECT_EQ(files_below(batch.out(), true), files);

  // Each in its own, joined in another; what is joined is reused.
  std::vector<std::string> merge = {"batch", "merge"};
  for (int i = 1; i <= 3; ++i) {
    const std::string out = batch / ("out-" + std::to_string(i));
    merge.push_back(out);
    run({"batch", batch.in(), "-o", out, "--shard", std::to_string(i) + "/3"});
  }
  fs::remove_all(batch.out());
  merge.insert(merge.end(), {"-o", batch.out()});
  EXPECT_EQ(run(merge).code, 1);
  EXPECT_EQ(without_seconds(batch.report()), report);
  EXPECT_EQ(files_below(batch.out(), true), files);
  EXPECT_EQ(batch.run().code, 1);
  EXPECT_EQ(batch.report()["counts"]["cached"], 7);
}

TEST(BatchLong, ManifestsHaveOptionsForEach) {
  const BatchDirectories batch;
  batch.add("a.json", read_file(topology("dgx-a100-x1")));
  batch.add("b.json", small_topology());
  batch.add("unlisted.json", "{");
  std::ofstream(batch / "manifest.json") << R"({
    "format": "forestcoll-batch-manifest", "version": 1, "topologies": [
      {"path": "./b.json", "collectives": ["allgather"], "k": [2, "optimal"]},
      {"path": "a.json", "options": ["--ranks", "0-3", "--instances=2"], "targets": ["rccl-6"]}]})";
  const auto result = batch.run({"--manifest", batch / "manifest.json", "--instances", "1"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(keys(files_below(batch.out())),
              ElementsAre("a.json/allreduce.xml", "b.json/allgather-k2.xml",
                          "b.json/allgather-koptimal.xml"));
  const auto synth = run({"synth", "-k", "auto", batch.in() + "/a.json", "-q", "--ranks", "0-3",
                          "--instances", "2", "--target", "rccl-6"});
  EXPECT_EQ(read_file(batch.out() + "/a.json/allreduce.xml"), synth.out);
}

TEST(BatchLong, WrongManifestsAreNamedWithThePlace) {
  const BatchDirectories batch;
  batch.add("a.json", small_topology());
  const std::string head = R"({"format": "forestcoll-batch-manifest", "version": 1, )";
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"[", "expected JSON"},
      {"{}", "begin the file with these two"},
      {head + R"("topologies": []})", "/topologies: expected a list"},
      {head + R"("topologies": [7]})", "/topologies/0: expected an object"},
      {head + R"("topology": [], "topologies": [{"path": "a.json"}]})", "no key \"topology\""},
      {head + R"("topologies": [{}]})", "/topologies/0/path: expected the path"},
      {head + R"("topologies": [{"path": "../a.json"}]})", "leads out of the directory"},
      {head + R"("topologies": [{"path": "a.json"}, {"path": "./a.json"}]})", "stands here twice"},
      {head + R"("topologies": [{"path": "a.json", "k": ["many"]}]})", "/topologies/0/k"},
      {head + R"("topologies": [{"path": "a.json", "k": []}]})", "expected at least one"},
      {head + R"("topologies": [{"path": "a.json", "collectives": ["sum"]}]})", "\"sum\""},
      {head + R"("topologies": [{"path": "a.json", "targets": [[]]}]})", "expected texts"},
      {head + R"("topologies": [{"path": "a.json", "options": ["--bad"]}]})", "--bad"},
      {head + R"("topologies": [{"path": "a.json", "options": ["--json"]}]})", "--json"},
      {head + R"("topologies": [{"path": "a.json", "options": ["-o", "x"]}]})", "-o"}};
  for (const auto& [text, message] : wrong) {
    std::ofstream(batch / "manifest.json") << text;
    const auto result = batch.run({"--manifest", batch / "manifest.json"});
    EXPECT_EQ(result.code, 2) << text;
    EXPECT_THAT(result.err, AllOf(HasSubstr(message), HasSubstr("[J06]"))) << text;
  }
  std::ofstream(batch / "manifest.json")
      << head + R"("topologies": [{"path": "a.json", "options": ["--min-bytes", "x"]}]})";
  const auto result = batch.run({"--manifest", batch / "manifest.json"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("manifest.json: a.json: --min-bytes"));
}

TEST(BatchLong, ManyFilesAreFoundAndSharedOut) {
  const BatchDirectories batch;
  constexpr int kFiles = 1000;
  for (int i = 0; i < kFiles; ++i) {
    batch.add(std::to_string(i % 10) + "/" + std::to_string(i) + ".json", pair_topology("10"));
  }
  const auto result = batch.run({"--shard", "7/500"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("2 items: 2 made"));
}

}  // namespace
}  // namespace forestcoll::testing
