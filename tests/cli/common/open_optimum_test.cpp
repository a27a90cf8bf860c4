// Where trees do not reach what nothing exceeds: every command names both figures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

using Json = nlohmann::json;

// Four GPUs of three boxes, whose trees through able switches and relays do not reach a cut.
class OpenOptimumLong : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(scratch_ / "in");
    run_well({"topo", "convert", bundled_path("dgx-h100-x4-rail"), "--to", "topology", "--members",
              "box[0-1]/gpu0,box2/gpu[0-1]", "--relays", "-o", file_});
  }
  // Of `bound --json`, which is the same for all of them.
  [[nodiscard]] const Json& bound(const char* what) const {
    static const Json report = [this] {
      return json_of({"bound", file_, "-c", "allreduce", "--json"});
    }();
    return report[what];
  }

  Scratch scratch_;
  std::string file_ = scratch_ / "in/group.json";
};

TEST_F(OpenOptimumLong, SynthNamesWhatBoundNames) {
  const Json known = bound("allreduce_in_network");
  ASSERT_FALSE(known.contains("exact"));
  const auto synth = run_well({"synth", file_, "-c", "allreduce", "--format", "forest", "--json",
                               "-o", scratch_ / "forest.json"});
  const Json report = Json::parse(synth.out);
  expect_valid(report, "forestcoll-synth.schema.json");
  EXPECT_EQ(report["optimum"]["exact"], known["at_most"]["exact"]);
  EXPECT_EQ(report["optimum"]["at_least"], known["at_least"]);
  EXPECT_EQ(report["optimum"], bound("optimum")["allreduce"]);
  EXPECT_EQ(report["optimum_at_least"], known["at_least"]);
  EXPECT_EQ(report["algbw"], known["at_least"]);
  EXPECT_THAT(synth.err, HasSubstr("algbw 333.333 (1000/3) GB/s, 83.33 % of the upper bound 400 "
                                   "GB/s; the optimum is at least 333.333 (1000/3) GB/s (a gap "
                                   "of 17 %)"));
  EXPECT_THAT(synth.err, Not(HasSubstr("of the optimum")));
}

// Of XML that is not what was written, but what is beside it; and the relays' figure is that of
// both phases at the same time, which is above that of one after the other.
TEST_F(OpenOptimumLong, XmlSaysWhatSwitchesAndRelaysAdd) {
  const auto synth = run_well(
      {"synth", "-k", "auto", file_, "-c", "allreduce", "--json", "-o", scratch_ / "group.xml"});
  const Json report = Json::parse(synth.out);
  expect_valid(report, "forestcoll-synth.schema.json");
  const Json of_ranks = bound("allreduce_optimum");
  EXPECT_EQ(report["with_relays"], of_ranks["at_least"]);
  EXPECT_EQ(report["with_relays"]["exact"], "300");
  EXPECT_THAT(synth.err, HasSubstr("with the other GPUs as relays (forests only) 300 GB/s"));
}

TEST_F(OpenOptimumLong, ABatchNamesBoth) {
  const std::string out = scratch_ / "out";
  const std::vector<std::string> words = {"batch", scratch_ / "in", "-o",       out,
                                          "-c",    "allreduce",     "--format", "forest"};
  const auto batch = run_well(words);
  EXPECT_THAT(
      batch.err,
      HasSubstr("83.33 % of the optimum at least (the optimum is 333.333 (1000/3) to 400 GB/s)"));
  const Json report = Json::parse(read_file(out + "/report.json"));
  expect_valid(report, "forestcoll-batch.schema.json");
  const Json range = report["items"][0]["optimum_range"];
  EXPECT_EQ(range["at_least"]["exact"], "1000/3");
  EXPECT_EQ(range["at_most"]["exact"], "400");
  EXPECT_THAT(read_file(out + "/report.csv"), HasSubstr("333.333 (1000/3) to 400"));
  EXPECT_THAT(read_file(out + "/report.md"), HasSubstr("at least of 333.333 (1000/3) to 400"));
  // What is kept of a previous run says the same.
  ASSERT_EQ(run(words).code, 0);
  const Json again = Json::parse(read_file(out + "/report.json"));
  EXPECT_EQ(again["items"][0]["status"], "cached");
  EXPECT_EQ(again["items"][0]["optimum_range"], range);
}

// A plan has the GPUs of one place in their boxes exchange sums, for which there must be routes.
void expect_no_switch_plan(const std::string& file, const std::vector<std::string>& trees,
                           const std::string& said) {
  const Scratch scratch;
  const std::string plan = scratch / "plan.json";
  const std::vector<std::string> drop{"--drop", "box0/gpu0->box0/nic0"};
  const auto synth =
      joined({"synth", file, "-c", "allreduce", "--format", "mscclpp", "-o", plan}, trees);
  expect_says(0, joined(synth, drop), said);
  run_well(joined({"verify", plan, "--topology", file}, drop));
}
// Four GPUs of each box, whose trees in switches are better than those over GPUs.
TEST(SwitchPlansLong, AreNotMadeWhereANicOnlyReceives) {
  const Scratch scratch;
  const std::string whole = scratch / "whole.json", file = scratch / "boxes.json";
  run_well({"topo", "gen", "dgx-h100", "--boxes", "2", "-o", whole});
  run_well(
      {"topo", "convert", whole, "--to", "topology", "--ranks", "box[0-1]/gpu[0-3]", "-o", file});
  expect_no_switch_plan(file, {"-k", "auto"}, " of the optimum 150 GB/s\n");
}
// Nor among all that are compared.
TEST(SwitchPlansLongest, AreNotMadeWhereANicOnlyReceives) {
  const Scratch scratch;
  const std::string file = scratch / "boxes.json";
  run_well({"topo", "gen", "dgx-h100", "--boxes", "2", "-o", file});
  expect_no_switch_plan(file, {}, " of the optimum 350 GB/s\n");
}

TEST(KnownOptimum, HasNoRange) {
  const Scratch scratch;
  const std::string file = scratch / "box.json";
  ASSERT_EQ(run({"topo", "gen", "dgx-h100", "-o", file}).code, 0);
  const auto synth = run_well({"synth", file, "-c", "allreduce", "--format", "forest", "--json",
                               "-o", scratch / "forest.json"});
  EXPECT_FALSE(Json::parse(synth.out).contains("optimum_at_least"));
  EXPECT_THAT(synth.err, HasSubstr("100 % of the optimum 400 GB/s"));
}

}  // namespace
}  // namespace forestcoll::testing
