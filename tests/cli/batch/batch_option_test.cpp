// `forestcoll batch`: the options of `synth` that it passes on, and those that would do nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "cli/batch.hpp"
#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

namespace fs = std::filesystem;

using Words = std::vector<std::string>;

// An algorithm, a format with the extension of its files, and how the batch is run.
using AlgorithmCase = std::tuple<std::string, std::pair<std::string, std::string>, std::string>;
class BatchAlgorithmLong : public ::testing::TestWithParam<AlgorithmCase> {};

TEST_P(BatchAlgorithmLong, MakesWhatSynthMakes) {
  const auto& [algorithm, format, how] = GetParam();
  const BatchDirectories batch;
  batch.add("box.json", read_file(topology("dgx-a100-x1")));
  const Words asked = {"--algorithm", algorithm, "--format", format.first};
  Words words = asked;
  if (!how.empty()) words.push_back(how);
  const auto result = batch.run(words);
  ASSERT_EQ(result.code, 0) << result.err;
  Words synth = {"synth", batch.in() + "/box.json", "-q"};
  synth.insert(synth.end(), asked.begin(), asked.end());
  EXPECT_EQ(read_file(batch.out() + "/box.json/allreduce" + format.second), run(synth).out);
  EXPECT_EQ(batch.items()[0]["asked_k"], "own");
  EXPECT_EQ(batch.run(words).code, 0);
  EXPECT_EQ(batch.items()[0]["status"], "cached");
}

INSTANTIATE_TEST_SUITE_P(Formats, BatchAlgorithmLong,
                         ::testing::Combine(::testing::Values("nccl-ring"),
                                            ::testing::Values(std::pair("msccl", ".xml"),
                                                              std::pair("mscclpp", ".json"),
                                                              std::pair("forest", ".json")),
                                            ::testing::Values("", "--in-process")));
INSTANTIATE_TEST_SUITE_P(Algorithms, BatchAlgorithmLong,
                         ::testing::Combine(::testing::Values("double-tree", "bruck", "multitree"),
                                            ::testing::Values(std::pair("msccl", ".xml")),
                                            ::testing::Values("")));

TEST(BatchLong, AlgorithmsReportWhatTheyReach) {
  const BatchDirectories batch;
  batch.add("box.json", read_file(topology("dgx-a100-x1")));
  ASSERT_EQ(batch.run({"--algorithm", "nccl-ring", "-c", "allgather,allreduce"}).code, 0);
  const auto items = batch.items();
  ASSERT_EQ(items.size(), 2);
  const auto synth = run({"synth", batch.in() + "/box.json", "--algorithm", "nccl-ring", "-c",
                          "allgather", "--format", "none", "--json"});
  EXPECT_EQ(items[0]["algbw"], nlohmann::json::parse(synth.out)["algbw"]);
  // Where there is no such algorithm, that is a failure of the item.
  ASSERT_EQ(batch.run({"--algorithm", "nvls"}).code, 1);
  EXPECT_EQ(batch.items()[0]["error"]["code"], "B03");
}

TEST(BatchLong, TreesOfOthersHaveNoK) {
  const BatchDirectories batch;
  batch.add("a.json", pair_topology("10"));
  for (const auto& [words, message] :
       {std::pair<Words, std::string>{{"--algorithm", "ring", "-k", "4"}, "-k is for forestcoll's"},
        {{"--algorithm", "rings"}, "there is no \"rings\""}}) {
    const auto result = batch.run(words);
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr(message));
  }
  EXPECT_EQ(batch.run({"--algorithm", "forestcoll", "-k", "2"}).code, 0);
  EXPECT_EQ(batch.items()[0]["asked_k"], "2");
}

// Whatever the target, forests and plans have the same bytes.
TEST(BatchLong, TargetsAreForXml) {
  const BatchDirectories batch;
  batch.add("a.json", pair_topology("10"));
  for (const char* format : {"forest", "forest-xml", "dot", "none", "mscclpp"}) {
    const auto result = batch.run({"--format", format, "--target", "azure,rccl-6"});
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_THAT(
        result.err,
        AllOf(HasSubstr(std::string("--target is for MSCCL XML, not for --format ") + format),
              HasSubstr("[S04]")));
  }
  EXPECT_EQ(batch.run({"--format", "forest", "--in-process"}).code, 0);
  EXPECT_EQ(batch.items()[0]["target"], "azure");
  std::ofstream(batch / "manifest.json") << R"({"format": "forestcoll-batch-manifest", "version": 1,
             "topologies": [{"path": "a.json", "targets": ["rccl-6"]}]})";
  const auto listed = batch.run({"--format", "forest", "--manifest", batch / "manifest.json"});
  EXPECT_EQ(listed.code, 2);
  EXPECT_THAT(listed.err, HasSubstr("manifest.json: a.json: --target is for MSCCL XML"));
}

TEST(BatchLong, ARootThatNothingHasIsRefused) {
  const BatchDirectories batch;
  batch.add("a.json", pair_topology("10"));
  batch.add("b.json", pair_topology("10"));
  const auto expect_refused = [&](const Words& words, const std::string& message) {
    const auto result = batch.run(words);
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr(message));
    EXPECT_FALSE(fs::exists(batch.out() + "/report.json"));
  };
  expect_refused({"--root", "1"}, "--root: allreduce has no root");
  expect_refused({"-c", "allgather,allreduce", "--root", "1"},
                 "--root: allgather, allreduce has no root");
  // In a manifest one entry with a root is enough for the common option, not for another's own.
  const auto write = [&](const std::string& first, const std::string& second) {
    std::ofstream(batch / "manifest.json")
        << R"({"format": "forestcoll-batch-manifest", "version": 1, "topologies": [)"
        << R"({"path": "a.json")" << first << R"(}, {"path": "b.json")" << second << "}]}";
  };
  const std::string rooted = R"(, "collectives": ["broadcast"])";
  const std::string own = R"(, "options": ["--root", "1"])";
  const Words listed = {"--manifest", batch / "manifest.json"};
  Words with_common = listed;
  with_common.insert(with_common.end(), {"--root", "1"});
  write("", "");
  expect_refused(with_common, "--root: allreduce has no root");
  write(rooted + own, own);
  expect_refused(listed, "/topologies/1/options: --root: allreduce has no root");
  write(rooted, "");
  EXPECT_EQ(batch.run(with_common).code, 0);
  write(rooted + own, "");
  EXPECT_EQ(batch.run(listed).code, 0);
}

TEST(Batch, ARootThatIsMissingIsAskedForBeforeAnythingIsMade) {
  const BatchDirectories batch;
  batch.add("a.json", pair_topology("10"));
  const auto common = batch.run({"-c", "allgather,broadcast"});
  EXPECT_EQ(common.code, 2);
  EXPECT_THAT(common.err, AllOf(HasSubstr("broadcast needs a root [S02]"), HasSubstr("--root 0")));
  std::ofstream(batch / "manifest.json") << R"({"format": "forestcoll-batch-manifest", "version": 1,
             "topologies": [{"path": "a.json", "collectives": ["reduce"]}]})";
  const auto listed = batch.run({"--manifest", batch / "manifest.json"});
  EXPECT_EQ(listed.code, 2);
  EXPECT_THAT(listed.err, HasSubstr("manifest.json: a.json: reduce needs a root [S02]"));
  EXPECT_FALSE(fs::exists(batch.out() + "/report.json"));
}

}  // namespace
}  // namespace forestcoll::testing
