// The optimum, the optimum by trees and what a schedule reaches: the same figures under the same
// names in every command, on all bundled fabrics.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/batch.hpp"
#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

using Json = nlohmann::json;
using ::testing::ContainsRegex;

constexpr int kMostGpusOfSchedules = 64;

// Of an object that has the three.
Json three_of(const Json& json) {
  return {{"optimum", json["optimum"]},
          {"optimum_by_trees", json["optimum_by_trees"]},
          {"reached", json["reached"]}};
}

// Of a report of `bound`, by collective.
Json three_of(const Json& json, const std::string& collective) {
  Json three;
  for (const char* name : {"optimum", "optimum_by_trees", "reached"}) {
    three[name] = json[name][collective];
  }
  return three;
}

Json rates_of(Json three) {
  three.erase("reached");
  return three;
}

class FiguresOf : public ::testing::TestWithParam<std::string> {};

// `words`, of a collective.
std::vector<std::string> with(std::vector<std::string> words, const std::string& collective) {
  words.insert(words.end(), {"-c", collective, "--json"});
  if (collective == "broadcast" || collective == "reduce") {
    words.insert(words.end(), {"--root", "0"});
  }
  return words;
}

// Those that no format and no target change: of one tree per root as well as of any other schedule.
TEST_P(FiguresOf, AreTheSameInEveryCommand) {
  const std::string file = topology(GetParam());
  for (const std::string collective :
       {"allgather", "reduce_scatter", "allreduce", "broadcast", "reduce", "alltoall"}) {
    const bool has_pairs = collective == "alltoall";
    std::vector<std::string> words = {"bound", file};
    if (!has_pairs) words.emplace_back("--whatif");
    const Json bound = json_of(with(words, collective), "forestcoll-bound.schema.json");
    const Json figures = rates_of(three_of(bound, collective));
    EXPECT_TRUE(figures["optimum"].contains("exact")) << figures;
    if (!has_pairs) {
      EXPECT_EQ(bound["algbw"][collective], figures["optimum"]) << collective;
      EXPECT_EQ(rates_of(three_of(bound["what_if"])), figures) << collective;
      EXPECT_EQ(bound["what_if"]["algbw"], figures["optimum"]) << collective;
    }
    if (has_pairs && bound["compute_nodes"] > kMostGpusOfSchedules) continue;  // minutes
    const Json synth = json_of(with({"synth", file, "-k", "1", "--format", "none"}, collective),
                               "forestcoll-synth.schema.json");
    EXPECT_EQ(rates_of(three_of(synth)), figures) << collective;
    words = {"compare", file, "--algorithms", has_pairs ? "direct" : "nccl-ring", "--sizes", "1M"};
    if (!has_pairs) words.emplace_back("--trees");
    const Json compare = json_of(with(words, collective), "forestcoll-compare.schema.json");
    EXPECT_EQ(rates_of(three_of(compare)), figures) << collective;
  }
}

TEST_P(FiguresOf, AreThoseOfABatch) {
  const std::string file = topology(GetParam());
  const Json bound = json_of({"bound", file, "--json"}, "forestcoll-bound.schema.json");
  if (bound["compute_nodes"] > kMostGpusOfSchedules) return;  // a schedule takes long
  const BatchDirectories batch;
  batch.add("fabric.json", read_file(file));
  ASSERT_EQ(batch.run({"-c", "allreduce,allgather", "-k", "1"}).code, 0);
  const Scratch scratch;
  for (const Json& item : batch.items()) {
    const std::string collective = item["collective"];
    EXPECT_EQ(rates_of(three_of(item)), rates_of(three_of(bound, collective)));
    const Json synth =
        json_of(with({"synth", file, "-k", "1", "-o", scratch / "x.xml"}, collective),
                "forestcoll-synth.schema.json");
    EXPECT_EQ(three_of(item), three_of(synth));
  }
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

// Of every kind: rings of links, boxes that are not alike, switches that add up and thin out, more
// GPUs than have schedules here, groups of dies, and a mesh.
INSTANTIATE_TEST_SUITE_P(BundledLong, FiguresOf,
                         ::testing::Values("dgx-1-v100", "dgx-a100-x2-degraded",
                                           "dgx-h100-x4-rail-2to1", "dragonfly-72", "mi250-x1",
                                           "torus-4x4"),
                         test_name);

// What a schedule of a target reaches, where it is asked for.
TEST(ThreeFiguresLong, AreReachedByTheScheduleOfATarget) {
  const std::string file = topology("dgx-a100-x1");
  const Scratch scratch;
  for (const std::string collective : {"allreduce", "allgather", "alltoall"}) {
    const Json bound = json_of(with({"bound", file, "--target", "azure"}, collective),
                               "forestcoll-bound.schema.json");
    const Json synth = json_of(with({"synth", file, "-o", scratch / "x.xml"}, collective),
                               "forestcoll-synth.schema.json");
    EXPECT_TRUE(synth["reached"].contains("exact")) << synth;
    EXPECT_EQ(three_of(bound, collective), three_of(synth)) << collective;
    const Json verdict =
        Json::parse(run({"verify", scratch / "x.xml", "--topology", file, "--json"}).out);
    EXPECT_EQ(verdict["algbw"]["exact"], synth["reached"]["exact"]);
    const std::string own = collective == "alltoall" ? "direct" : "nccl-ring";
    const Json compare =
        json_of(with({"compare", file, "--sizes", "1M", "--algorithms", own}, collective),
                "forestcoll-compare.schema.json");
    EXPECT_EQ(three_of(compare), three_of(synth)) << collective;
  }
  EXPECT_THAT(run({"bound", file, "-c", "allgather", "--target", "rccl-6.3"}).out,
              HasSubstr("allgather as synth writes it for rccl-6.3: 342.857 (2400/7) GB/s, 100 % "
                        "of the optimum"));
  EXPECT_EQ(run({"bound", file, "--target", "nowhere"}).code, 2);
}

// Switches add to trees, and XML has neither all of these.
TEST(ThreeFiguresLong, AreNamedWhereTheyDiffer) {
  const std::string file = topology("dgx-h100-x4-rail");
  const Json bound =
      json_of({"bound", file, "-c", "allreduce", "--json"}, "forestcoll-bound.schema.json");
  EXPECT_EQ(bound["version"], 3);
  EXPECT_EQ(bound["optimum"]["allreduce"]["exact"], "800/3");
  EXPECT_EQ(bound["optimum_by_trees"]["allreduce"]["exact"], "8000/31");
  EXPECT_EQ(bound["reached"]["allreduce"]["not_computed"]["code"], "N10");
  EXPECT_EQ(bound["two_phases"]["exact"], "8000/31");
  const std::string text = run({"bound", file, "-c", "allreduce"}).out;
  EXPECT_THAT(text, ContainsRegex("allreduce +266.667 \\(800/3\\)"));
  EXPECT_THAT(text, HasSubstr("optimum of allreduce by trees: 258.065 (8000/31) GB/s"));
  const Scratch scratch;
  const auto synth = run({"synth", file, "-k", "1", "-o", scratch / "schedule.xml"});
  EXPECT_THAT(synth.err, HasSubstr(" % of the optimum 266.667 (800/3) GB/s\n"
                                   "  optimum by trees, without in-network multicast and reduction "
                                   "(--format forest has them): 258.065 (8000/31) GB/s, of which "
                                   "this is 99."));
  // One is enough where they are equal.
  const auto equal =
      run({"synth", topology("dgx-a100-x2"), "-k", "1", "-o", scratch / "schedule.xml"});
  EXPECT_THAT(equal.err, Not(HasSubstr("optimum by trees")));
}

// The row of the allreduce is both phases at once, where that is better.
TEST(ThreeFiguresLong, TheRowIsTheOptimum) {
  for (const auto& [name, row] : {std::pair{"mixed-a100-h100", "allreduce +175 "},
                                  {"dgx-a100-x2-degraded", "allreduce +172.917 \\(2075/12\\)"},
                                  {"dgx-h100-x4-rail", "allreduce +266.667 \\(800/3\\)"}}) {
    EXPECT_THAT(run({"bound", topology(name)}).out, ContainsRegex(row));
  }
}

// What a large fabric's schedule reaches is not found out beside another question.
TEST(ThreeFigures, AFigureThatIsNotKnownSaysWhy) {
  const Json bound =
      json_of({"bound", topology("dragonfly-72"), "-c", "allgather", "--target", "azure", "--json"},
              "forestcoll-bound.schema.json");
  const Json& why = bound["reached"]["allgather"]["not_computed"];
  EXPECT_EQ(why["code"], "N10");
  EXPECT_THAT(why["message"].get<std::string>(), HasSubstr("a schedule for 72 GPUs "));
}

}  // namespace
}  // namespace forestcoll::testing
