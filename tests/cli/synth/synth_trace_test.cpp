// `synth --format goal` and `--format chakra`: traces for others' simulators.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/program.hpp"
#include "trace/readers.hpp"

namespace forestcoll::testing {
namespace {

TEST(SynthTraceLong, GoalOfEveryCollective) {
  for (const std::string collective :
       {"allgather", "reduce_scatter", "allreduce", "broadcast", "reduce", "alltoall"}) {
    std::vector<std::string> arguments = {
        "synth", topology("torus-4x4"), "-c", collective, "--format", "goal", "--sizes", "64K"};
    if (collective == "broadcast" || collective == "reduce") {
      arguments.insert(arguments.end(), {"--root", "3"});
    }
    const auto result = run_well(arguments);
    const auto ranks = trace_test::read_goal(result.out);
    ASSERT_EQ(ranks.size(), 16U);
    std::int64_t sent = 0, received = 0;
    for (const auto& rank : ranks) {
      for (const auto& operation : rank) {
        if (operation.kind == "send") sent += operation.bytes;
        if (operation.kind == "recv") received += operation.bytes;
      }
    }
    EXPECT_EQ(sent, received);
    // All data reaches, or leaves, every rank but its own; in an allreduce both.
    EXPECT_GE(sent, (collective == "allreduce" ? 2 : 1) * 15 * 65536) << collective;
    EXPECT_THAT(result.err, ::testing::Not(HasSubstr("[W")));
  }
}

TEST(SynthTraceLong, ChakraIsAFilePerRankAndASystemFile) {
  const Scratch scratch;
  const std::string directory = scratch / "et";
  const std::vector<std::string> arguments = {"synth",    topology("dgx-1-v100"),
                                              "-c",       "allgather",
                                              "--format", "chakra",
                                              "--sizes",  "64K",
                                              "-o",       directory};
  expect_says(0, arguments, "--system-configuration=" + directory + "/system.json");
  const auto system = nlohmann::json::parse(read_file(directory + "/system.json"));
  EXPECT_EQ(system["all-gather-implementation-custom"],
            nlohmann::json::array({directory + "/allgather"}));
  for (int rank = 0; rank < 8; ++rank) {
    const std::string text = read_file(directory + "/allgather." + std::to_string(rank) + ".et");
    const auto trace = trace_test::read_chakra(text);
    EXPECT_EQ(trace.bytes, 65536);
    std::int64_t received = 0;
    for (const auto& operation : trace.operations) {
      if (operation.kind == "recv") received += operation.bytes;
    }
    EXPECT_EQ(received, 65536 * 7 / 8);
  }
  const auto again = run(arguments);
  EXPECT_EQ(again.code, 2);
  EXPECT_THAT(again.err,
              AllOf(HasSubstr("not empty"), HasSubstr("loads all files of the directory")));
}

// ASTRA-sim has no broadcast of its own to replace.
TEST(SynthTraceLong, NoSystemFileWithoutSuchACollective) {
  const Scratch scratch;
  const std::string directory = scratch / "et";
  run_well({"synth", topology("dgx-1-v100"), "-c", "broadcast", "--root", "0", "--format", "chakra",
            "--sizes", "64K", "-o", directory});
  EXPECT_FALSE(std::filesystem::exists(directory + "/system.json"));
  EXPECT_TRUE(std::filesystem::exists(directory + "/broadcast.7.et"));
}

TEST(SynthTraceLong, RefusesWhatATraceDoesNotHave) {
  const auto refused = [](const std::vector<std::string>& more, const std::string& words,
                          const std::string& code, int exit = 2,
                          const std::string& format = "goal") {
    const auto result = run(joined({"synth", topology("dgx-1-v100"), "--format", format}, more));
    EXPECT_EQ(result.code, exit) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr(words));
    EXPECT_THAT(result.err, HasSubstr("[" + code + "]"));
  };
  refused({}, "--sizes 16M", "S04");
  refused({"--sizes", "1K:1M"}, "--sizes", "S03");
  refused({"--sizes", "1M", "--max-bytes", "4M"}, "one size that --sizes names", "S04");
  refused({"--tune", "1M"}, "--tune is for what runtimes load", "S04");
  refused({"--sizes", "1M", "--deploy", "d"}, "--deploy is for what runtimes load", "S04");
  refused({"--sizes", "1"}, "1 bytes for", "M01");
  refused({"--sizes", "1000T"}, "a smaller size", "M06", 3);
  refused({"--sizes", "1M"}, "name a directory with -o", "S04", 2, "chakra");
}

}  // namespace
}  // namespace forestcoll::testing
