// `synth` of an allreduce that is better with both phases at the same time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

// XML names no routes: by those of a runtime, which goes from GPU to GPU of a box through its
// NVSwitch alone, no schedule of the degraded boxes has what paths have, and ours has all that one
// can.
TEST(SynthAtOnceLong, ForestsAndXmlReachWhatBoundProves) {
  struct Case {
    const char *name, *optimum, *as_xml;
  };
  const Scratch scratch;
  for (const auto& [name, optimum, as_xml] :
       {Case{"mixed-a100-h100", "175", "175"}, {"dgx-a100-x2-degraded", "2075/12", "345/2"}}) {
    const auto bound = nlohmann::json::parse(run({"bound", topology(name), "--json"}).out);
    EXPECT_EQ(bound["allreduce_optimum"]["exact"], optimum);
    for (const std::string format : {"forest", "msccl"}) {
      const std::string file = scratch / (format + ".out");
      const auto synth = run_well(
          {"synth", topology(name), "-k", "optimal", "--format", format, "--json", "-o", file});
      const auto report = nlohmann::json::parse(synth.out);
      expect_valid(report, "forestcoll-synth.schema.json");
      const std::string reached = format == "msccl" ? as_xml : optimum;
      EXPECT_EQ(report["algbw"]["exact"], reached);
      EXPECT_EQ(report["reached"]["exact"], reached);
      EXPECT_EQ(report["optimum"]["exact"], optimum);
      EXPECT_EQ(report.contains("optimum_of_paths"), reached != optimum);
      if (reached != optimum) {
        EXPECT_EQ(report["optimum_of_paths"]["exact"], optimum);
        EXPECT_EQ(report["optimum_of_schedules"]["exact"], reached);
        EXPECT_THAT(synth.err, HasSubstr("a schedule names no routes: none has more than 172.5 "
                                         "GB/s, of which this has 100 %"));
        EXPECT_THAT(synth.err, Not(HasSubstr("[W11]")));
      }
      EXPECT_EQ(report["two_phases"], bound["two_phases"]);
      const auto verify = json_of({"verify", file, "--topology", topology(name), "--json"});
      EXPECT_EQ(verify["algbw"]["exact"], reached);
    }
  }
}

TEST(SynthAtOnceLong, IsSaidInTheSummary) {
  const auto mixed =
      run({"synth", topology("mixed-a100-h100"), "-k", "optimal", "--format", "none"});
  EXPECT_THAT(mixed.err, HasSubstr("the optimum has reduce and broadcast at the same time: one "
                                   "after the other reaches 133.333 (400/3) GB/s at most"));
  const auto alike = run({"synth", topology("dgx-a100-x2"), "-k", "optimal", "--format", "none"});
  EXPECT_THAT(alike.err, Not(HasSubstr("at the same time")));
}

TEST(SynthAtOnceLong, XmlByDefaultIsAtOnce) {
  const Scratch scratch;
  const auto algbw = [&](const std::string& name) {
    const auto synth =
        json_of({"synth", "-k", "auto", topology(name), "--json", "-o", scratch / "x.xml"});
    EXPECT_EQ(run({"verify", scratch / "x.xml", "--topology", topology(name)}).code, 0);
    return synth;
  };
  const auto mixed = algbw("mixed-a100-h100");
  EXPECT_GT(mixed["algbw"]["value"].get<double>(), 170);
  EXPECT_EQ(mixed["two_phases"]["exact"], "400/3");
  const auto degraded = algbw("dgx-a100-x2-degraded");
  EXPECT_GE(degraded["algbw"]["value"].get<double>(), 160);
  EXPECT_EQ(degraded["optimum"]["exact"], "2075/12");
}

// One way round a circle with a shortcut, other shares are better than equal ones.
TEST(SynthAtOnceLong, RootsHaveTheSharesThatAreBest) {
  const Scratch scratch;
  const std::string file = scratch / "circle.json", forest = scratch / "forest.json",
                    xml = scratch / "circle.xml", plan = scratch / "plan.json";
  scratch.write("circle.json", R"({"format":"forestcoll-topology","version":1,
    "nodes":[{"id":"g[0-3]","type":"compute"}],
    "links":[{"src":"g0","dst":"g1","bandwidth":4,"duplex":"simplex"},
             {"src":"g1","dst":"g2","bandwidth":2,"duplex":"simplex"},
             {"src":"g2","dst":"g3","bandwidth":4,"duplex":"simplex"},
             {"src":"g3","dst":"g0","bandwidth":3,"duplex":"simplex"},
             {"src":"g1","dst":"g3","bandwidth":1,"duplex":"simplex"}]})");
  const auto bound = nlohmann::json::parse(run({"bound", file, "--json"}).out);
  const auto report =
      json_of({"synth", file, "--format", "forest", "-k", "optimal", "--json", "-o", forest});
  EXPECT_EQ(report["algbw"], report["optimum"]);
  EXPECT_EQ(report["algbw"]["exact"], bound["allreduce_optimum"]["exact"]);
  const auto verify = json_of({"verify", forest, "--topology", file, "--json"});
  EXPECT_EQ(verify["algbw"]["exact"], report["algbw"]["exact"]);
  for (const std::string format : {"msccl", "mscclpp"}) {
    const std::string to = format == "msccl" ? xml : plan;
    run_well({"synth", file, "--format", format, "-k", "4", "-o", to});
    EXPECT_EQ(run({"verify", to, "--topology", file}).code, 0) << format;
  }
}

}  // namespace
}  // namespace forestcoll::testing
