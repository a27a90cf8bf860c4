// `forestcoll verify` on every runtime at once, and plans of MSCCL++ from outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string schedule(const std::string& collective, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"synth", "-", "-c", collective, "-k", "1"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Result synth = run(arguments, {.input = small_topology()});
  EXPECT_EQ(synth.code, 0) << synth.err;
  return synth.out;
}

TEST(VerifyTargets, TableSaysWhatEachWouldDo) {
  const auto verify = run({"verify", "-", "--target", "all"}, {.input = schedule("allgather")});
  EXPECT_EQ(verify.code, 0) << verify.err;
  for (const char* target : {"azure", "rccl-5.7", "rccl-6", "msccl"}) {
    EXPECT_THAT(verify.out, HasSubstr(target));
  }
  EXPECT_THAT(verify.out, HasSubstr("runs, and is right"));
  EXPECT_THAT(verify.out, HasSubstr("usable: "));
}

TEST(VerifyTargets, ReportFollowsItsSchema) {
  const auto verify =
      run({"verify", "-", "--target", "all", "--json"}, {.input = schedule("reduce_scatter")});
  EXPECT_EQ(verify.code, 0) << verify.err;
  const auto json = nlohmann::json::parse(verify.out);
  expect_valid(json, "forestcoll-verify-targets.schema.json");
  ASSERT_EQ(json["targets"].size(), 4U);
  EXPECT_EQ(json["targets"][0]["target"], "azure");
  EXPECT_EQ(json["targets"][0]["ok"], true);
  // The research runtime calls the collective otherwise.
  EXPECT_EQ(json["targets"][3]["ok"], false);
  EXPECT_THAT(json["targets"][3]["outcome"].get<std::string>(), HasSubstr("does not take it"));
}

TEST(VerifyTargets, NoRuntimeRunsABrokenFile) {
  std::string text = schedule("allgather");
  const std::size_t at = text.find("cnt=\"1\"");
  text.replace(at, 7, "cnt=\"2\"");
  const auto verify = run({"verify", "-", "--target", "all"}, {.input = text});
  EXPECT_EQ(verify.code, 1);
  EXPECT_THAT(verify.out, HasSubstr("such as"));
  EXPECT_THAT(verify.out, Not(HasSubstr("runs, and is right")));
}

TEST(VerifyTargets, AreForSchedulesAlone) {
  const auto forest = run({"verify", "-", "--target", "all"},
                          {.input = schedule("allgather", {"--format", "forest"})});
  EXPECT_EQ(forest.code, 2);
  EXPECT_THAT(forest.err, HasSubstr("[S04]"));
  const auto unknown = run({"verify", "-", "--target", "some"}, {.input = "<algo/>"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("azure, rccl-5.7, rccl-6, msccl, all"));
}

TEST(VerifyPlan, PlansOfEveryCollectivePass) {
  for (const std::string name : {"dgx-a100-x1", "dgx-a100-x2", "mi250-x1"}) {
    for (const char* collective : {"allreduce", "allgather", "reduce_scatter", "broadcast"}) {
      for (const char* placement : {"--inplace", "--outofplace"}) {
        std::vector<std::string> arguments = {"synth",    topology(name), "-c",     collective,
                                              "--format", "mscclpp",      placement};
        if (collective == std::string("broadcast")) {
          arguments.insert(arguments.end(), {"--root", "0"});
        }
        const auto synth = run(arguments);
        ASSERT_EQ(synth.code, 0) << name << collective << synth.err;
        const auto verify =
            run({"verify", "-", "--json", "--topology", topology(name)}, {.input = synth.out});
        EXPECT_EQ(verify.code, 0) << verify.out;
        const auto json = nlohmann::json::parse(verify.out);
        expect_valid(json, "forestcoll-verify.schema.json");
        EXPECT_EQ(json["schedule"], "mscclpp-plan");
        EXPECT_EQ(json["collective"], collective);
        EXPECT_LE(json["steps"].get<int>(), 64);
      }
    }
  }
}

TEST(VerifyPlan, BrokenPlansAreRejected) {
  std::string text = schedule("allreduce", {"--format", "mscclpp"});
  // The barrier between the arrival of data and the reduction that reads it.
  const std::size_t at = text.find("{\"name\":\"nop\"},\n      {\"name\":\"re\"");
  ASSERT_NE(at, std::string::npos);
  std::string broken = text;
  broken.replace(at, 15, "");
  const auto verify = run({"verify", "-"}, {.input = broken});
  EXPECT_EQ(verify.code, 1) << verify.out;
  EXPECT_THAT(verify.out, HasSubstr("WRONG"));
  EXPECT_THAT(verify.out, HasSubstr("rank 0, threadblock 0, step"));
  const auto cut = run({"verify", "-"}, {.input = text.substr(0, text.size() / 2)});
  EXPECT_EQ(cut.code, 2);
  EXPECT_THAT(cut.err, HasSubstr("<stdin>: "));
}

TEST(VerifyPlan, OptionsThatPlansDoNotHaveAreRefused) {
  const std::vector<std::vector<std::string>> wrong = {{"--proto", "LL"},
                                                       {"--instances", "2"},
                                                       {"--unfused"},
                                                       {"--threadblocks", "merge"},
                                                       {"--inplace", "--outofplace"}};
  for (const auto& options : wrong) {
    std::vector<std::string> arguments = {"synth", "-", "--format", "mscclpp"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const auto synth = run(arguments, {.input = small_topology()});
    EXPECT_EQ(synth.code, 2) << options[0];
    EXPECT_THAT(synth.err, HasSubstr("[S04]"));
    EXPECT_EQ(synth.out, "");
  }
  const auto reduce = run({"synth", "-", "--format", "mscclpp", "-c", "reduce", "--root", "0"},
                          {.input = small_topology()});
  EXPECT_EQ(reduce.code, 3);
  EXPECT_THAT(reduce.err, HasSubstr("[T06]"));
}

}  // namespace
}  // namespace forestcoll::testing
