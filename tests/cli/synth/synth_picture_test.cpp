// `forestcoll synth --format svg` from outside: one tree on its fabric.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/program.hpp"
#include "support/svg_picture.hpp"

namespace forestcoll::testing {
namespace {

TEST(SynthPicture, ShowsATreeOnItsFabric) {
  for (const std::string collective : {"allgather", "reduce_scatter", "broadcast"}) {
    std::vector<std::string> words = {
        "synth", topology("torus-4x4"), "-c", collective, "--format", "svg", "-o", "-"};
    if (collective == "broadcast") words.insert(words.end(), {"--root", "5"});
    const auto drawn = run_well(words);
    const test::SvgPicture picture = test::read_svg(drawn.out);
    EXPECT_THAT(picture.overlaps, IsEmpty()) << collective;
    EXPECT_THAT(picture.outside, IsEmpty()) << collective;
    EXPECT_EQ(picture.nodes.size(), 16U) << collective;
    // A tree of 16 GPUs on direct links has 15 of them; one around an end has two lines.
    std::size_t hops = 0;
    for (std::size_t at = 0; (at = drawn.out.find("<title>round ", at)) != std::string::npos;
         ++at) {
      ++hops;
    }
    EXPECT_GE(hops, 15U) << collective;
    EXPECT_LE(hops, 30U) << collective;
    EXPECT_THAT(drawn.out, AllOf(HasSubstr(collective + " on torus 4x4: the tree "),
                                 HasSubstr(">round 1</text>")));
    EXPECT_THAT(drawn.out, HasSubstr(collective == "reduce_scatter" ? "towards n" : "from n"));
  }
}

// Where trees branch at a switch, what it passes on is one message.
TEST(SynthPicture, SwitchesPassOnInTheSameRound) {
  const Scratch scratch;
  const std::string file = scratch / "h100.json";
  ASSERT_EQ(run({"topo", "gen", "dgx-h100", "-o", file}).code, 0);
  const auto drawn = run_well({"synth", file, "--format", "svg", "-o", "-"});
  EXPECT_THAT(drawn.out, AllOf(HasSubstr(">round 1</text>"), Not(HasSubstr(">round 2</text>"))));
}

TEST(SynthPicture, PathsHaveNone) {
  expect_says(2, {"synth", topology("torus-4x4"), "-c", "alltoall", "--format", "svg"},
              "--format svg is for trees");
}

}  // namespace
}  // namespace forestcoll::testing
