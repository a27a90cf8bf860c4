#include "forestcoll/ratio.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <limits>

namespace forestcoll {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

TEST(Ratio, IsInLowestTermsWithAPositiveDenominator) {
  EXPECT_EQ(Ratio(6, -4), Ratio(-3, 2));
  EXPECT_EQ(Ratio(6, -4).den(), 2);
  EXPECT_EQ(Ratio(0, 7), Ratio(0));
  EXPECT_EQ(Ratio(1040, 3).to_string(), "1040/3");
  EXPECT_EQ(Ratio(26, 2).to_string(), "13");
}

TEST(Ratio, ComparesExactlyWhereDoublesCannot) {
  EXPECT_LT(Ratio(kMax - 1, kMax), Ratio(1));
  EXPECT_LT(Ratio(kMax - 2, kMax - 1), Ratio(kMax - 1, kMax));
  EXPECT_LT(Ratio(-1, 3), Ratio(0));
}

TEST(Ratio, ArithmeticIsExact) {
  EXPECT_EQ(Ratio(1, 3) + Ratio(1, 6), Ratio(1, 2));
  EXPECT_EQ(Ratio(1, 3) - Ratio(1, 2), Ratio(-1, 6));
  EXPECT_EQ(Ratio(2, 3) * Ratio(9, 4), Ratio(3, 2));
  EXPECT_EQ(Ratio(2, 3) / Ratio(4, 9), Ratio(3, 2));
  EXPECT_EQ(Ratio(kMax, 2) * Ratio(2, kMax), Ratio(1));
}

TEST(Ratio, CheckedArithmeticSaysWhatDoesNotFit) {
  EXPECT_FALSE(checked_add(Ratio(kMax), Ratio(1)));
  EXPECT_FALSE(checked_mul(Ratio(kMax), Ratio(2)));
  EXPECT_FALSE(checked_div(Ratio(1), Ratio(0)));
  EXPECT_EQ(checked_mul(Ratio(kMax), Ratio(1, 2)), Ratio(kMax, 2));
}

TEST(RatioDeathTest, OverflowOfABoundedValueIsABug) {
  EXPECT_EXIT(Ratio(kMax) * Ratio(2), testing::KilledBySignal(SIGABRT), "overflowed");
}

TEST(ParseRatio, ReadsNumbersExactly) {
  EXPECT_EQ(parse_ratio("25"), Ratio(25));
  EXPECT_EQ(parse_ratio("-3"), Ratio(-3));
  EXPECT_EQ(parse_ratio("370.8"), Ratio(1854, 5));
  EXPECT_EQ(parse_ratio("1.50"), Ratio(3, 2));
  EXPECT_EQ(parse_ratio("1.5e3"), Ratio(1500));
  EXPECT_EQ(parse_ratio("15E-1"), Ratio(3, 2));
  EXPECT_EQ(parse_ratio("1000/3"), Ratio(1000, 3));
  EXPECT_EQ(parse_ratio("0.1"), Ratio(1, 10));
  EXPECT_EQ(parse_ratio("0e999"), Ratio(0));
  EXPECT_EQ(parse_ratio("9223372036854775807"), Ratio(kMax));
}

TEST(ParseRatio, RefusesWhatIsNotANumberOrDoesNotFit) {
  for (const char* text : {"",
                           "-",
                           ".5",
                           "5.",
                           "1e",
                           "1e+",
                           "nan",
                           "inf",
                           "0x10",
                           "1 ",
                           " 1",
                           "1/0",
                           "1/2/3",
                           "1,5",
                           "--1",
                           "1e100001",
                           "9223372036854775808",
                           "1e19",
                           "1e-19",
                           "0.00000000000000000001"}) {
    EXPECT_FALSE(parse_ratio(text)) << text;
  }
}

}  // namespace
}  // namespace forestcoll
