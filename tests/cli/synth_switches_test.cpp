// What `synth` says of switches that copy and combine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

using ::testing::HasSubstr;

TEST(SynthInNetwork, SummarySaysWhatSwitchesCouldAdd) {
  const Scratch scratch;
  const std::string file = scratch / "h100.json";
  ASSERT_EQ(run({"topo", "gen", "dgx-h100", "-o", file}).code, 0);
  const auto synth = run({"synth", file, "--json", "-o", scratch / "x.xml"});
  ASSERT_EQ(synth.code, 0) << synth.err;
  EXPECT_THAT(synth.err, HasSubstr("with them trees reach 400 GB/s, 1.56 times as much"));
  const auto report = nlohmann::json::parse(synth.out);
  expect_valid(report, "forestcoll-synth.schema.json");
  EXPECT_EQ(report["in_network"]["exact"], "400");
  EXPECT_EQ(report["algbw"]["exact"], "1800/7");
  const auto gather = run({"synth", file, "-c", "allgather", "--json", "-o", scratch / "y.xml"});
  EXPECT_FALSE(nlohmann::json::parse(gather.out).contains("in_network"));
}

}  // namespace
}  // namespace forestcoll::testing
