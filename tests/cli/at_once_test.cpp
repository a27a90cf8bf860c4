// `synth` of an allreduce that is better with both phases at the same time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(SynthAtOnce, ForestsAndXmlReachWhatBoundProves) {
  const Scratch scratch;
  for (const auto& [name, optimum] :
       {std::pair("mixed-a100-h100", "175"), {"dgx-a100-x2-degraded", "2075/12"}}) {
    const auto bound = nlohmann::json::parse(run({"bound", topology(name), "--json"}).out);
    EXPECT_EQ(bound["allreduce_optimum"]["exact"], optimum);
    for (const std::string format : {"forest", "msccl"}) {
      const std::string file = scratch / (format + ".out");
      const auto synth =
          run({"synth", topology(name), "-k", "optimal", "--format", format, "--json", "-o", file});
      ASSERT_EQ(synth.code, 0) << synth.err;
      const auto report = nlohmann::json::parse(synth.out);
      expect_valid(report, "forestcoll-synth.schema.json");
      EXPECT_EQ(report["algbw"]["exact"], optimum);
      EXPECT_EQ(report["optimum"]["exact"], optimum);
      EXPECT_EQ(report["two_phases"], bound["algbw"]["allreduce"]);
      const auto verify = run({"verify", file, "--topology", topology(name), "--json"});
      ASSERT_EQ(verify.code, 0) << verify.out << verify.err;
      // A program names no routes; by the fewest hops the degraded box loses some of it.
      if (format == "msccl") continue;
      EXPECT_EQ(nlohmann::json::parse(verify.out)["algbw"]["exact"], optimum);
    }
  }
}

TEST(SynthAtOnce, IsSaidInTheSummary) {
  const auto mixed =
      run({"synth", topology("mixed-a100-h100"), "-k", "optimal", "--format", "none"});
  EXPECT_THAT(mixed.err, HasSubstr("reduce and broadcast at the same time: one after the other "
                                   "reaches 133.333 (400/3) GB/s at most"));
  const auto alike = run({"synth", topology("dgx-a100-x2"), "-k", "optimal", "--format", "none"});
  EXPECT_THAT(alike.err, Not(HasSubstr("at the same time")));
}

TEST(SynthInNetwork, SummarySaysWhatSwitchesCouldAdd) {
  const Scratch scratch;
  const std::string file = scratch / "h100.json";
  ASSERT_EQ(run({"topo", "gen", "dgx-h100", "-o", file}).code, 0);
  const auto synth = run({"synth", file, "--json", "-o", scratch / "x.xml"});
  ASSERT_EQ(synth.code, 0) << synth.err;
  EXPECT_THAT(synth.err, HasSubstr("with them the links allow 400 GB/s, 1.56 times as much"));
  const auto report = nlohmann::json::parse(synth.out);
  expect_valid(report, "forestcoll-synth.schema.json");
  EXPECT_EQ(report["in_network"]["exact"], "400");
  EXPECT_EQ(report["algbw"]["exact"], "1800/7");
  const auto gather = run({"synth", file, "-c", "allgather", "--json", "-o", scratch / "y.xml"});
  EXPECT_FALSE(nlohmann::json::parse(gather.out).contains("in_network"));
}

// Files that runtimes take have a power of two of chunks: there it has to bring a tenth.
TEST(SynthAtOnce, XmlByDefaultIsAtOnceWhereThatIsWorthIt) {
  const Scratch scratch;
  const auto algbw = [&](const std::string& name) {
    const auto synth = run({"synth", topology(name), "--json", "-o", scratch / "x.xml"});
    EXPECT_EQ(synth.code, 0) << synth.err;
    EXPECT_EQ(run({"verify", scratch / "x.xml", "--topology", topology(name)}).code, 0);
    return nlohmann::json::parse(synth.out);
  };
  const auto mixed = algbw("mixed-a100-h100");
  EXPECT_GT(mixed["algbw"]["value"].get<double>(), 170);
  EXPECT_EQ(mixed["two_phases"]["exact"], "400/3");
  const auto degraded = algbw("dgx-a100-x2-degraded");
  EXPECT_GE(degraded["algbw"]["value"].get<double>(), 160);
  EXPECT_EQ(degraded["optimum"]["exact"], "2075/12");
}

}  // namespace
}  // namespace forestcoll::testing
