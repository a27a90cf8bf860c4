// What a limit on the height costs, in work and not in time: nearly all of it are steps of random
// exchanges of the routes of trees.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "forestcoll/synthesize.hpp"
#include "support/topology_of.hpp"

namespace forestcoll {
namespace {

struct LowCase {
  std::string topology;
  std::int32_t height;
  TreesPerRoot trees;
  Ratio rate;           // GB/s: that is known
  std::int32_t lowest;  // of those at that rate
  int most_steps;       // some more than it takes
};

class LowBudgetLong : public testing::TestWithParam<LowCase> {};

TEST_P(LowBudgetLong, FindsWhatIsKnownInSoManySteps) {
  const LowCase& low = GetParam();
  SynthesizeOptions options;
  options.max_height = low.height;
  options.trees_per_root = low.trees;
  int steps = 0;
  options.packing.progress = [&](std::string_view stage, std::optional<double> done) {
    steps += stage == "lowering trees" && done ? 1 : 0;
  };
  const auto found = synthesize(test::bundled_network(low.topology), options);
  ASSERT_TRUE(found);
  EXPECT_GE(found->forest.algbw, low.rate);
  EXPECT_LE(found->forest.broadcast->max_height(), low.lowest);
  EXPECT_LE(steps, low.most_steps);
}

constexpr TreesPerRoot kAny{TreesPerRoot::Mode::optimal, 0};
constexpr TreesPerRoot kFour{TreesPerRoot::Mode::fixed, 4};

INSTANTIATE_TEST_SUITE_P(
    Bundled, LowBudgetLong,
    testing::Values(LowCase{"mi250-x2", 5, kAny, Ratio(512, 3), 5, 7'000},
                    LowCase{"mi250-x2", 7, kAny, Ratio(2656, 15), 6, 9'000},
                    LowCase{"mixed-a100-h100", 2, kAny, Ratio(1776, 11), 2, 13'000},
                    LowCase{"mixed-a100-h100", 2, kFour, Ratio(4800, 31), 2, 13'000},
                    LowCase{"dgx-h100-x4-rail-2to1", 1, kAny, Ratio(400, 21), 1, 0}));

}  // namespace
}  // namespace forestcoll
