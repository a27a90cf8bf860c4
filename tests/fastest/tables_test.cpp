// Tables of all algorithms by size: as exact as they need be, of the rows that are asked for.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "fastest/contest.hpp"
#include "fastest/fabrics.hpp"
#include "forestcoll/fastest.hpp"

namespace forestcoll {
namespace {

using fastest::Contest;
using test::options_for;

// In a table what is behind the fastest is known within 1 %, and, where it is far behind, but for
// what other threadblocks would gain; the rest as exactly as ever.
TEST(TablesLong, AreExactWhereItMatters) {
  constexpr double kMostOfVariants = 1.2;
  const std::vector<std::int64_t> sizes = {1 << 16, 1 << 24, 1 << 28};
  const Fabric fabric = test::bundled_fabric("dgx-a100-x2");
  const FastestOptions options = options_for(Collective::allreduce, sizes);
  std::vector<std::string> told;
  const auto each = fastest_of_each(
      fabric, options, [&](const AlgorithmTimes& times) { told.push_back(times.algorithm); });
  ASSERT_TRUE(each);
  auto contest = Contest::hold(fabric, options);
  ASSERT_TRUE(contest);
  const auto best = contest->winners();
  const std::vector<std::string> names = contest->algorithms();
  EXPECT_TRUE(std::ranges::is_permutation(told, names));
  for (std::size_t a = 0; a < names.size(); ++a) {
    ASSERT_EQ((*each)[a].algorithm, names[a]);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const auto exact = contest->winner(
          sizes[i], [&](std::size_t c) { return contest->candidate(c).algorithm == names[a]; });
      const auto& known = (*each)[a].by_size[i];
      ASSERT_EQ(exact.has_value(), known.has_value());
      if (!exact) continue;
      const double ratio = known->seconds / exact->seconds;
      const bool is_of_interest = exact->seconds < 1.05 * best[i]->seconds;
      const double most =
          exact->seconds < 1.1 * best[i]->seconds ? Contest::kWorthwhileBeyond : kMostOfVariants;
      EXPECT_LE(ratio, is_of_interest ? Contest::kWorthwhile : most);
      EXPECT_GE(ratio, 1 / Contest::kWorthwhile);
    }
  }
}

// In a table, where a simulation takes long. One-shot sends the buffer to all 23 others.
TEST(Tables, WhatIsFarBehindIsABound) {
  constexpr std::int64_t kSmall = 1 << 16, kLarge = std::int64_t{3} << 28;
  FastestOptions options = options_for(Collective::allreduce, {kSmall, kLarge});
  options.algorithms = {"one-shot"};
  options.counts = ServedCounts::any;
  const Fabric fabric = test::star_of(24);
  auto contest = Contest::hold(fabric, options);
  ASSERT_TRUE(contest);
  const auto winner = [&](std::int64_t bytes) {
    return contest->winner(bytes, [](std::size_t) { return true; }, Contest::Of::programs,
                           {.of_interest = 1e-6});
  };
  const auto small = winner(kSmall), large = winner(kLarge);
  ASSERT_TRUE(small && large);
  EXPECT_FALSE(small->is_bound);
  EXPECT_TRUE(large->is_bound);
  EXPECT_EQ(large->seconds, contest->least_seconds(large->contender, kLarge));
}

// Only rows that are asked for, and what is written.
TEST(Tables, HaveTheRowsThatAreAskedFor) {
  FastestOptions options = options_for(Collective::allreduce, {1 << 20});
  options.as_written = ServedCounts::or_around;
  options.rows = {kNcclPick, "two-shot", "no such"};
  const auto each = fastest_of_each(test::star_of(4), options);
  ASSERT_TRUE(each);
  std::vector<std::string> names;
  for (const AlgorithmTimes& times : *each) names.push_back(times.algorithm);
  EXPECT_THAT(names, ::testing::ElementsAre("two-shot", kNcclPick, kAsWritten));
}

}  // namespace
}  // namespace forestcoll
