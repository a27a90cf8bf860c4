// `forestcoll synth` where low trees have more peers than a GPU holds threadblocks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

// 128 GPUs, each of which sends to 127 others in trees of height 1.
TEST(FewPeersLong, TallerTreesFitWhereLowOnesDoNot) {
  const Scratch scratch;
  const std::string fabric = scratch / "fat-tree.json", file = scratch / "a.xml";
  ASSERT_EQ(run({"topo", "gen", "fat-tree", "--ports", "8", "-o", fabric}).code, 0);
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {"-c", "allgather"},
           {"-c", "allreduce"},
           {"-c", "reduce_scatter", "-k", "1", "--target", "rccl-6"}}) {
    const auto synth =
        expect_says(0, joined({"synth", "-v", fabric, "-o", file, "--json"}, with_trees(more)),
                    "taller trees, of height 2 instead of 1");
    EXPECT_THAT(synth.err, HasSubstr("a GPU sends to at most 22 others, not 127"));
    const auto json = nlohmann::json::parse(synth.out);
    EXPECT_EQ(json["algbw"]["exact"], json["optimum"]["exact"]);
    EXPECT_EQ(json["height"]["max"], 2);
    EXPECT_EQ(run({"verify", file, "--topology", fabric}).code, 0);
  }
}

// A root with a channel to each of 53 others is more than a threadblock of a plan holds.
TEST(FewPeersLong, OfPlansToo) {
  const Scratch scratch;
  const std::string fabric = scratch / "fat-tree.json", file = scratch / "plan.json";
  ASSERT_EQ(run({"topo", "gen", "fat-tree", "--ports", "6", "-o", fabric}).code, 0);
  expect_says(
      0,
      {"synth", "-v", "-k", "auto", fabric, "-c", "allgather", "--format", "mscclpp", "-o", file},
      "a GPU sends to at most 13 others, not 53");
  EXPECT_EQ(run({"verify", file, "--topology", fabric}).code, 0);
}

// Nothing is made taller where it fits, or where no threadblocks are asked for.
TEST(FewPeersLong, LowTreesStayWhereTheyFit) {
  const Scratch scratch;
  const std::string fabric = scratch / "fat-tree.json";
  ASSERT_EQ(run({"topo", "gen", "fat-tree", "--ports", "8", "-o", fabric}).code, 0);
  for (const std::vector<std::string>& more :
       std::vector<std::vector<std::string>>{{"--sms", "132"}, {"--format", "forest"}}) {
    expect_says(
        0,
        joined({"synth", "-v", "-k", "auto", fabric, "-c", "allgather", "-o", "/dev/null"}, more),
        "height 1 hops (mean 1,");
  }
}

// Where the fabric has no symmetry, there is nothing that is known to fit.
TEST(FewPeers, WithoutSymmetryTheRefusalStands) {
  const Scratch scratch;
  const std::string fabric = scratch / "fat-tree.json";
  ASSERT_EQ(run({"topo", "gen", "fat-tree", "--ports", "8", "-o", fabric}).code, 0);
  expect_says(3,
              {"synth", "-v", "-k", "auto", fabric, "-c", "allgather", "-o", scratch / "a.xml",
               "--derate", "pod0/gpu0~pod0/edge0=1/2"},
              "[T01]");
}

}  // namespace
}  // namespace forestcoll::testing
