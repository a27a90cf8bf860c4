#include "simulate/run/least_number.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

namespace forestcoll::simulate {
namespace {

constexpr double kUnset = std::numeric_limits<double>::infinity();

TEST(LeastNumber, IsInfiniteWhereNothingIsSet) {
  EXPECT_EQ(LeastNumber(0).least(), kUnset);
  EXPECT_EQ(LeastNumber(1).least(), kUnset);
  EXPECT_EQ(LeastNumber(17).least(), kUnset);
}

// Few different values, so that many are the same.
TEST(LeastNumber, IsTheFirstOfTheLeastWhateverChanges) {
  std::mt19937 random(1);
  const auto pick = [&](int most) { return std::uniform_int_distribution<int>(0, most)(random); };
  for (const int count : {1, 2, 15, 16, 17, 255, 256, 257, 5000}) {
    LeastNumber least(static_cast<std::size_t>(count));
    std::vector<double> values(static_cast<std::size_t>(count), kUnset);
    for (int round = 0; round < 300; ++round) {
      for (int change = pick(40); change > 0; --change) {
        const int i = pick(count - 1);
        values[static_cast<std::size_t>(i)] = pick(3) == 0 ? kUnset : pick(20);
        least.set(i, values[static_cast<std::size_t>(i)]);
      }
      const auto expected = std::min_element(values.begin(), values.end());
      ASSERT_EQ(least.least(), *expected);
      if (*expected == kUnset) continue;
      ASSERT_EQ(least.first(), expected - values.begin());
    }
  }
}

}  // namespace
}  // namespace forestcoll::simulate
