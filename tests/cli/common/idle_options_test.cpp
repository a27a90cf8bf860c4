// Options that would do nothing are refused in words, before anything is made.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/batch.hpp"
#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

struct Idle {
  std::vector<std::string> words;
  std::string named;  ///< the option that the message names
};

class IdleOptionLong : public ::testing::Test {
 protected:
  void expect_refused(const Idle& idle, const std::string& code) {
    SCOPED_TRACE(::testing::PrintToString(idle.words));
    const auto result = run(idle.words);
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_TRUE(has_no_report(result));
    EXPECT_THAT(result.err, HasSubstr("[" + code + "]"));
    EXPECT_THAT(result.err, HasSubstr(idle.named));
  }

  Scratch scratch_;
  std::string file_ = scratch_.write("t.json", small_topology());
};

TEST_F(IdleOptionLong, OfCompareWithoutRings) {
  for (const char* option : {"--cross-nic", "--nccl-constants"}) {
    expect_refused({{"compare", file_, option, "--algorithms", "ring"}, option}, "S04");
  }
  // It is for rings between boxes alone, which hierarchical does not have.
  expect_refused({{"compare", file_, "--cross-nic", "--algorithms", "hierarchical"}, "--cross-nic"},
                 "S04");
  expect_refused({{"compare", file_, "--nccl-graph", file_, "--algorithms", "bfb"}, "--nccl-graph"},
                 "S04");
  run_well({"compare", file_, "--nccl-constants", "--cross-nic", "--algorithms", "nccl-ring",
            "--sizes", "1M"});
}

TEST_F(IdleOptionLong, OfSynthWhereNoRuntimeIsMeant) {
  for (const std::string format : {"forest", "forest-symmetric", "forest-xml", "dot", "none"}) {
    expect_refused({{"synth", file_, "--format", format, "--target", "rccl-6"}, "--target"}, "S04");
    expect_refused({{"synth", file_, "--format", format, "--sms", "4"}, "--sms"}, "S04");
  }
  expect_refused({{"synth", file_, "--format", "mscclpp", "--target", "rccl-6"}, "--target"},
                 "S04");
  EXPECT_EQ(run({"synth", file_, "--format", "mscclpp", "--sms", "40"}).code, 0);
}

TEST_F(IdleOptionLong, OfBatchesOfForestsStayOutOfTheItems) {
  const BatchDirectories batch;
  batch.add("a.json", small_topology());
  const auto made = batch.run({"--format", "forest"});
  EXPECT_EQ(made.code, 0) << made.err;
}

TEST_F(IdleOptionLong, OfTopoGen) {
  expect_refused({{"topo", "gen", "ring", "--json"}, "--json"}, "S04");
  expect_refused({{"topo", "gen", "ring", "--list"}, "\"ring\""}, "S04");
  expect_refused({{"topo", "gen", "--nodes", "5", "--list"}, "--nodes"}, "S04");
  expect_refused({{"topo", "gen", "--list", "-o", scratch_ / "x"}, "-o"}, "S04");
}

TEST_F(IdleOptionLong, OfPicturesThatNobodyAskedFor) {
  expect_refused({{"topo", "show", file_, "--detail", "9"}, "--detail"}, "S04");
  expect_refused({{"topo", "show", file_, "--time-limit", "9"}, "--time-limit"}, "S04");
  EXPECT_EQ(run({"topo", "show", file_, "--detail", "9", "--dot", scratch_ / "x"}).code, 0);
}

TEST_F(IdleOptionLong, OfForests) {
  const std::string forest = scratch_ / "f.json";
  ASSERT_EQ(run({"synth", file_, "--format", "forest", "-o", forest}).code, 0);
  expect_refused({{"verify", forest, "--sms", "9"}, "--sms"}, "S04");
}

TEST_F(IdleOptionLong, AFileWithoutAName) {
  const std::vector<std::vector<std::string>> commands = {
      {"topo", "show", file_, "--svg"},
      {"topo", "show", file_, "--png"},
      {"topo", "show", file_, "--dot"},
      {"compare", file_, "--svg"},
      {"compare", file_, "--html"},
      {"compare", file_, "--nccl-graph"},
      {"compare", file_, "--parameters"},
      {"synth", file_, "--warm"},
      {"synth", "-k", "auto", file_, "--nccl-graph"},
      {"simulate", file_, file_, "--parameters"},
      {"verify", file_, "--topology"},
      {"topo", "import", "slurm", file_, "--box"}};
  for (std::vector<std::string> words : commands) {
    const std::string option = words.back();
    words.emplace_back("");
    expect_refused({words, option}, "S03");
  }
  EXPECT_THAT(scratch_.names(), ::testing::ElementsAre("t.json"));
}

}  // namespace
}  // namespace forestcoll::testing
