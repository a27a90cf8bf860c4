// Shares of a whole: exact in words, the nearest double as numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>

#include "forestcoll/ratio.hpp"

namespace forestcoll {
namespace {

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

TEST(Share, IsRoundedDownExactly) {
  EXPECT_EQ(percent(Ratio(80, 3), Ratio(100, 3)), "80 %");
  EXPECT_EQ(percent(Ratio(1200, 7), Ratio(520, 3)), "98.9 %");
  EXPECT_EQ(percent(Ratio(2, 3), Ratio(1)), "66.66 %");
  EXPECT_EQ(percent(Ratio(0), Ratio(7)), "0 %");
  EXPECT_EQ(percent(Ratio(14, 9), Ratio(1)), "155.55 %");
  for (std::int64_t h = 1; h < 10'000; ++h) {
    const Ratio part(h, 10'000), third(1, 3);
    const std::string text = percent(part * third, third);
    EXPECT_EQ(parse_ratio(text.substr(0, text.size() - 2)), Ratio(h, 100));
    EXPECT_EQ(percent(share(part, Ratio(1))), text);
  }
}

TEST(Share, IsWholeOnlyWhereNothingIsMissing) {
  EXPECT_EQ(percent(Ratio(5, 3), Ratio(5, 3)), "100 %");
  EXPECT_EQ(percent(Ratio(kLargest - 1), Ratio(kLargest)), "99.99 %");
  EXPECT_EQ(percent(Ratio(kLargest), Ratio(kLargest - 1)), "100.01 %");
  // Numerator and denominator of the quotient have 126 bits each.
  EXPECT_EQ(percent(Ratio(kLargest, kLargest - 1), Ratio(kLargest - 1, kLargest - 2)), "99.99 %");
  EXPECT_EQ(percent(Ratio(kLargest, kLargest - 2), Ratio(kLargest, kLargest - 2)), "100 %");
  EXPECT_EQ(percent(share(Ratio(kLargest - 1), Ratio(kLargest))), "99.99 %");
  EXPECT_EQ(percent(share(Ratio(kLargest), Ratio(kLargest - 1))), "100.01 %");
  EXPECT_EQ(percent(1.0), "100 %");
}

TEST(Share, IsTheNearestDouble) {
  EXPECT_EQ(share(Ratio(80, 3), Ratio(100, 3)), 0.8);
  EXPECT_EQ(share_lost(Ratio(4, 5), Ratio(1)), 0.2);
  EXPECT_EQ(share(Ratio(kLargest - 1), Ratio(kLargest)), std::nextafter(1.0, 0.0));
  EXPECT_EQ(share(Ratio(kLargest), Ratio(1, 2)), std::ldexp(1.0, 64));
  EXPECT_EQ(share(Ratio(0), Ratio(3)), 0);
  // A division of doubles that are exact is rounded once.
  std::mt19937_64 random(1);
  const auto draw = [&] { return static_cast<std::int64_t>(random() % 90'000'000) + 1; };
  for (int i = 0; i < 2000; ++i) {
    const std::int64_t a = draw(), b = draw(), c = draw(), d = draw();
    EXPECT_EQ(share(Ratio(a, b), Ratio(c, d)),
              static_cast<double>(a * d) / static_cast<double>(b * c));
  }
}

}  // namespace
}  // namespace forestcoll
