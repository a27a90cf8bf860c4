// Plans for releases of MSCCL++: each has what its executor runs, and no more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

const auto kNoStores = AllOf(Not(HasSubstr("\"gstore\"")), Not(HasSubstr("\"gstorepkt\"")));

std::string boxes_of(const Scratch& scratch, const std::string& number) {
  const std::string file = scratch / ("h100-x" + number + ".json");
  EXPECT_EQ(run({"topo", "gen", "dgx-h100", "--boxes", number, "-o", file}).code, 0);
  return file;
}

// With four GPUs each.
std::string half_boxes_of(const Scratch& scratch, const std::string& number) {
  const std::string file = scratch / ("half-x" + number + ".json");
  const std::string last = std::to_string(std::stoi(number) - 1);
  run_well({"topo", "convert", boxes_of(scratch, number), "--to", "topology", "--ranks",
            last == "0" ? "gpu[0-3]" : "box[0-" + last + "]/gpu[0-3]", "-o", file});
  return file;
}

/// The summary of a plan that is right for the target; where it is one for 0.9, by its text, too.
nlohmann::json plan_for(const std::string& target, const std::string& file, const std::string& plan,
                        const std::vector<std::string>& more) {
  const auto synth =
      run_well(joined({"synth", file, "--target", target, "--json", "-o", plan}, more));
  if (synth.code != 0) return {};
  run_well({"verify", plan, "--target", target, "--topology", file});
  if (target == "mscclpp-0.9") {
    EXPECT_THAT(read_file(plan), kNoStores);
  }
  auto report = nlohmann::json::parse(synth.out);
  expect_valid(report, "forestcoll-synth.schema.json");
  return report;
}

// One box needs no stores for its sums; small messages are put at every GPU, and two boxes add up
// in the switch once more.
TEST(SynthReleaseLong, PlansForTheOlderOneHaveNoStoresThroughSwitches) {
  const Scratch scratch;
  const std::string plan = scratch / "plan.json";
  for (const auto& [number, size] :
       {std::pair("1", "1K"), std::pair("1", "1M"), std::pair("2", "1M")}) {
    const std::string file = half_boxes_of(scratch, number);
    const auto old = plan_for("mscclpp-0.9", file, plan, {"--size", size});
    const auto timed = json_of({"simulate", plan, file, "--sizes", size, "--json"});
    EXPECT_DOUBLE_EQ(timed["times"][0]["simulated_seconds"].get<double>(),
                     old["fastest"]["simulated_seconds"].get<double>());
    const auto now = plan_for("mscclpp-0.10", file, plan, {"--size", size});
    EXPECT_LE(now["fastest"]["simulated_seconds"].get<double>(),
              old["fastest"]["simulated_seconds"].get<double>());
  }
}

TEST(SynthReleaseLong, TwoBoxesSumInSwitchesWithoutStores) {
  const Scratch scratch;
  const std::string file = boxes_of(scratch, "2"), plan = scratch / "plan.json";
  const auto old = plan_for("mscclpp-0.9", file, plan, {"-k", "auto"});
  EXPECT_EQ(old["algbw"]["exact"], "300");
  EXPECT_THAT(read_file(plan), HasSubstr("\"glres\""));
  expect_says(2, {"verify", plan, "--target", "azure"}, "[S04]");
}

TEST(SynthReleaseLong, SmallMessagesArePutWhereNoSwitchStores) {
  const Scratch scratch;
  const std::string file = half_boxes_of(scratch, "1"), plan = scratch / "plan.json";
  const auto report = plan_for("mscclpp-0.9", file, plan, {"--size", "1K"});
  EXPECT_EQ(report["fastest"]["name"], "forestcoll, packets put at every GPU, a plan of MSCCL++");
  EXPECT_THAT(read_file(plan), HasSubstr("\"ppkt\""));
  expect_says(0,
              {"synth", file, "--target", "mscclpp-0.9", "--max-bytes", "1K", "-k", "auto", "-v",
               "-o", plan},
              "put at each in turn, no multicast in the switch nvsw");
  EXPECT_EQ(run({"verify", plan, "--target", "mscclpp-0.9"}).code, 0);
}

// Several boxes of more than two have trees.
TEST(SynthReleaseLong, MoreBoxesHaveTrees) {
  const Scratch scratch;
  const std::string file = half_boxes_of(scratch, "3"), plan = scratch / "plan.json";
  const auto report = plan_for("mscclpp-0.9", file, plan, {"-k", "auto"});
  EXPECT_FALSE(report.contains("branching"));
  EXPECT_THAT(read_file(plan), Not(HasSubstr("\"glres\"")));
}

// A plan of the newer release does not run on the older one, and `verify` says where and why.
TEST(SynthReleaseLong, VerifyFindsWhatAReleaseDoesNotHave) {
  const Scratch scratch;
  const std::string file = half_boxes_of(scratch, "1"), plan = scratch / "plan.json";
  expect_says(0, {"synth", file, "--format", "mscclpp", "--size", "16K", "-o", plan},
              "only if MSCCL++ is 0.10 or later");
  const auto old = run({"verify", plan, "--target", "mscclpp-0.9"});
  EXPECT_EQ(old.code, 1);
  EXPECT_THAT(old.out, HasSubstr("rank 0, threadblock 0, step 1"));
  EXPECT_THAT(old.out, HasSubstr("target mscclpp-0.9 has no operation \"gstorepkt\""));
  EXPECT_THAT(old.out, HasSubstr("run it with MSCCL++ 0.10 or later"));
  EXPECT_THAT(old.out, HasSubstr("[V04]"));
  const auto all = run({"verify", plan, "--target", "all"});
  EXPECT_EQ(all.code, 1) << all.err;
  EXPECT_EQ(run({"verify", plan, "--target", "any"}).code, 0);
  EXPECT_THAT(all.out, HasSubstr("  mscclpp-0.10  runs; the result is correct"));
  EXPECT_THAT(all.out, HasSubstr("  mscclpp-0.9   rejects it"));
  const auto json = nlohmann::json::parse(run({"verify", plan, "--target", "all", "--json"}).out);
  expect_valid(json, "forestcoll-verify-targets.schema.json");
  ASSERT_EQ(json["targets"].size(), 2U);
  EXPECT_EQ(json["targets"][1]["target"], "mscclpp-0.9");
  EXPECT_EQ(json["targets"][1]["ok"], false);
}

// The word alone, as scripts have it, is the newest; every command takes the releases.
TEST(SynthReleaseLong, TheWordAloneIsTheNewest) {
  const Scratch scratch;
  const std::string file = half_boxes_of(scratch, "1");
  const auto text_for = [&](const std::vector<std::string>& more) {
    return run(joined({"synth", file, "-k", "auto", "-o", "-"}, more)).out;
  };
  const std::string newest = text_for({"--target", "mscclpp-0.10", "--max-bytes", "16K"});
  EXPECT_THAT(newest, HasSubstr("\"gstorepkt\""));
  EXPECT_EQ(newest, text_for({"--target", "mscclpp", "--max-bytes", "16K"}));
  EXPECT_EQ(newest, text_for({"--format", "mscclpp", "--max-bytes", "16K"}));
  EXPECT_EQ(newest,
            text_for({"--format", "mscclpp", "--target", "mscclpp-0.10", "--max-bytes", "16K"}));
  expect_says(2, {"synth", file, "--format", "msccl", "--target", "mscclpp-0.9"},
              "--target mscclpp-0.9 asks for --format mscclpp");
  const auto unknown = run({"synth", file, "--target", "mscclpp-0.8"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, AllOf(HasSubstr("mscclpp-0.10, mscclpp-0.9"), HasSubstr("[T07]")));
  const auto bound = run_well(
      {"bound", half_boxes_of(scratch, "2"), "-c", "allreduce", "--target", "mscclpp-0.9"});
  EXPECT_THAT(bound.out, HasSubstr("as synth writes it for mscclpp-0.9: "));
}

TEST(SynthReleaseLong, TunedAndBatchedPlansAreForTheRelease) {
  const Scratch scratch;
  std::filesystem::create_directory(scratch / "in");
  const std::string file = boxes_of(scratch, "1");
  std::filesystem::copy(file, scratch / "in/h100.json");
  const auto report = json_of({"synth", file, "--target", "mscclpp-0.9", "--tune", "1K:64M:64",
                               "-o", scratch / "plans", "--json"},
                              "forestcoll-tune.schema.json");
  EXPECT_EQ(report["target"], "mscclpp-0.9");
  for (const auto& each : report["files"]) {
    EXPECT_THAT(read_file(scratch / ("plans/" + each["file"].get<std::string>())), kNoStores);
  }
  run_well({"batch", scratch / "in", "-o", scratch / "out", "-c", "allreduce", "--target",
            "azure,mscclpp-0.9", "--in-process", "-k", "1"});
  EXPECT_THAT(read_file(scratch / "out/h100.json/allreduce-mscclpp-0.9.json"), kNoStores);
}

}  // namespace
}  // namespace forestcoll::testing
