// `forestcoll batch` among files that are there already: none takes the place of another, and what
// forestcoll wrote before is no topology.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/batch.hpp"
#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::Pair;

using Words = std::vector<std::string>;

std::string manifest_of(const std::string& path) {
  return R"({"format": "forestcoll-batch-manifest", "version": 1, "topologies": [{"path": ")" +
         path + R"("}]})";
}

// A batch that has run once, with a manifest and a baseline beside it.
class BatchFiles : public ::testing::Test {
 protected:
  BatchFiles() {
    batch_.add("a.json", pair_topology("10"));
    EXPECT_EQ(batch_.run().code, 0);
    fs::copy_file(batch_.out() + "/report.json", batch_ / "baseline.json");
    std::ofstream(batch_ / "manifest.json") << manifest_of("a.json");
  }
  // Nothing where there is no file.
  static std::optional<std::string> content(const std::string& path) {
    return fs::exists(path) ? std::optional(read_file(path)) : std::nullopt;
  }
  // Refused, and `path` is what it was.
  void expect_refused(const Words& words, const std::string& path, const std::string& message) {
    const auto before = content(path);
    const auto result = run(words);
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_THAT(result.err, AllOf(HasSubstr(message), HasSubstr("[S04]")));
    EXPECT_EQ(content(path), before) << path;
  }
  BatchDirectories batch_;
};
using BatchFilesLong = BatchFiles;

TEST_F(BatchFilesLong, JunitTakesNothingsPlace) {
  fs::create_symlink(batch_.in() + "/a.json", batch_ / "link.xml");
  fs::create_directory_symlink(batch_.out(), batch_ / "link");
  const Words more = {"--in-process", "--manifest", batch_ / "manifest.json", "--baseline",
                      batch_ / "baseline.json"};
  for (const auto& [path, what] : std::vector<std::pair<std::string, std::string>>{
           {batch_.in() + "/a.json", "an input"},
           {batch_.in() + "/../in/./a.json", "an input"},
           {batch_ / "link.xml", "an input"},
           {batch_ / "manifest.json", "an input"},
           {batch_ / "baseline.json", "the baseline"},
           {batch_.out() + "/a.json/allreduce.xml", "an output"},
           {batch_.out() + "/a.json/.allreduce.xml.batch", "an output"},
           {batch_.out() + "/report.json", "a report"},
           {batch_.out() + "/report.md", "a report"},
           {batch_ / "link/report.csv", "a report"},
           {batch_.out() + "/report.2-of-3.json", "a report"},
           {batch_.out() + "/.forestcoll-batch.lock", "a report"}}) {
    Words words = batch_.words(more);
    words.insert(words.end(), {"--junit", path});
    expect_refused(words, path, path + " is " + what + " of this batch");
  }
  // Also where it is not there yet; and beside them it is allowed.
  fs::remove_all(batch_.out());
  EXPECT_EQ(batch_.run({"--junit", batch_.out() + "/report.json"}).code, 2);
  EXPECT_EQ(batch_.run({"--junit", batch_.out() + "/a.json/allreduce.xml"}).code, 2);
  EXPECT_EQ(batch_.run({"--junit", batch_.out() + "/junit.xml"}).code, 0);
  EXPECT_TRUE(fs::exists(batch_.out() + "/junit.xml"));
}

TEST_F(BatchFilesLong, ReportsAndOutputsTakeNoInputsPlace) {
  // Topologies in the directory of outputs are found by a manifest alone.
  const auto listed = [&](const std::string& path) {
    std::ofstream(batch_ / "manifest.json") << manifest_of(path);
    return Words{"batch", batch_ / "", "-o", batch_.out(), "--manifest", batch_ / "manifest.json"};
  };
  const std::string report = batch_.out() + "/report.json";
  std::ofstream(report) << pair_topology("10");
  expect_refused(listed("out/report.json"), report, "report.json is an input, and the report goes");
  fs::copy_file(batch_ / "manifest.json", batch_.out() + "/report.md",
                fs::copy_options::overwrite_existing);
  expect_refused(batch_.words({"--manifest", batch_.out() + "/report.md"}),
                 batch_.out() + "/report.md", "report.md is an input, and the report goes");
  // The output of in/a.json would be another's input, through a link.
  fs::remove_all(batch_.out() + "/a.json");
  fs::create_directories(batch_.in() + "/sub");
  batch_.add("sub/allreduce.json", pair_topology("20"));
  fs::create_directory_symlink(batch_.in() + "/sub", batch_.out() + "/a.json");
  expect_refused(batch_.words({"--format", "forest"}), batch_.in() + "/sub/allreduce.json",
                 "allreduce.json is an input, and an output goes there");
  // A topology called as the report: its outputs lie in a directory of that name.
  fs::remove_all(batch_.out());
  batch_.add("report.json", pair_topology("10"));
  expect_refused(batch_.words(), batch_.in() + "/report.json",
                 "report.json is where outputs go, and the report goes there");
  EXPECT_EQ(batch_.run({"--exclude", "report.json"}).code, 0);
}

TEST_F(BatchFiles, TheLastReportMayBeTheBaseline) {
  const std::string report = batch_.out() + "/report.json";
  EXPECT_EQ(batch_.run({"--baseline", report}).code, 0);
  EXPECT_THAT(batch_.report()["regressions"], IsEmpty());
}

TEST_F(BatchFilesLong, MergeTakesNothingsPlace) {
  ASSERT_EQ(batch_.run({"--shard", "1/1"}).code, 0);
  const std::string part = batch_.out() + "/report.1-of-1.json";
  const std::string whole = batch_ / "whole";
  const Words merge = {"batch", "merge", batch_.out(), "-o", whole, "--junit"};
  for (const std::string& path : {part, batch_.out() + "/a.json/allreduce.xml",
                                  whole + "/report.json", whole + "/a.json/allreduce.xml"}) {
    Words words = merge;
    words.push_back(path);
    expect_refused(words, path, "--junit: " + path + " is a");
  }
  EXPECT_FALSE(fs::exists(whole));
  Words words = merge;
  words.push_back(batch_ / "junit.xml");
  EXPECT_EQ(run(words).code, 0);
}

TEST_F(BatchFiles, OneReportGoesToStandardOutput) {
  for (const Words& words : {Words{"--json", "--junit", "-"},
                             {"--annotate", "--junit", "-"},
                             {"--json", "--annotate"}}) {
    const auto result = batch_.run(words);
    EXPECT_EQ(result.code, 2);
    EXPECT_THAT(result.err, HasSubstr("both write to standard output"));
  }
  EXPECT_THAT(batch_.run({"--junit", "-"}).out, HasSubstr("<testsuites"));
}

// What is left of a variable that is not set.
TEST_F(BatchFiles, TheEmptyNameIsNoFile) {
  for (const char* option : {"--junit", "--baseline", "--manifest"}) {
    const auto result = batch_.run({option, ""});
    EXPECT_EQ(result.code, 2) << option;
    EXPECT_THAT(result.err, AllOf(HasSubstr(option), HasSubstr("found nothing")));
  }
}

TEST(BatchLong, PassesOverWhatForestcollWrote) {
  const BatchDirectories batch;
  batch.add("a.json", pair_topology("10"));
  std::vector<std::string> formats = {"forestcoll-batch-manifest"};
  for (const auto& entry : fs::directory_iterator(source_path("tools/schema"))) {
    const auto schema = nlohmann::json::parse(read_file(entry.path()));
    formats.push_back(schema["properties"]["format"]["const"]);
  }
  for (const std::string& format : formats) {
    batch.add("old/" + format + ".json", nlohmann::json{{"format", format}, {"version", 1}}.dump());
  }
  for (const Words& how : {Words{}, {"--in-process"}, {"--all"}}) {
    EXPECT_EQ(batch.run(how).code, 0);
    EXPECT_THAT(batch.statuses(), ElementsAre(Pair("a.json allreduce", ::testing::_)));
  }
  // But what somebody lists, or misspells, is an error.
  std::ofstream(batch / "manifest.json") << manifest_of("old/forestcoll-forest.json");
  EXPECT_EQ(batch.run({"--manifest", batch / "manifest.json"}).code, 1);
  EXPECT_EQ(batch.items()[0]["error"]["code"], "E02");
  batch.add("typo.json", R"({"format": "forestcoll-topolgy", "version": 1})");
  EXPECT_EQ(batch.run().code, 1);
  EXPECT_EQ(batch.statuses()["typo.json allreduce"], "failed");
}

TEST(BatchLong, PassesOverOutputsOfOtherBatches) {
  const BatchDirectories batch;
  batch.add("a.json", read_file(topology("dgx-a100-x1")));
  for (const char* format : {"msccl", "mscclpp", "forest", "none"}) {
    const std::string out = batch.in() + "/old-" + format;
    ASSERT_EQ(run({"batch", batch.in(), "-o", out, "--format", format}).code, 0);
    ASSERT_TRUE(fs::exists(out + "/report.json"));
  }
  const auto result = batch.run();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(batch.statuses(), ElementsAre(Pair("a.json allreduce", "ok")));
}

}  // namespace
}  // namespace forestcoll::testing
