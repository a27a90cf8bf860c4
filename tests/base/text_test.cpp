// Numbers, and sizes in bytes. What is refused, and how, stands in tests/simulate beside the
// simulator's input.
#include "forestcoll/text.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace forestcoll {
namespace {

using Sizes = std::vector<std::int64_t>;

TEST(Numbers, HaveAtMostThreeDecimals) {
  EXPECT_EQ(number(25.0), "25");
  EXPECT_EQ(number(1040.0 / 3), "346.667");
  EXPECT_EQ(number(0.00012345678), "0.000123457");
  EXPECT_EQ(number(0.0), "0");
}

TEST(Numbers, AreExactWhereRoundingLosesSomething) {
  EXPECT_EQ(number(Ratio(200)), "200");
  EXPECT_EQ(number(Ratio(5, 4)), "1.25");
  EXPECT_EQ(number(Ratio(1040, 3)), "346.667 (1040/3)");
}

TEST(Numbers, OfThingsHaveAPlural) {
  EXPECT_EQ(counted(1, "link"), "1 link");
  EXPECT_EQ(counted(0, "link"), "0 links");
  EXPECT_EQ(counted(2, "PCIe switch"), "2 PCIe switches");
}

TEST(Sizes, UnitsArePowersOf1024HoweverTheyAreSpelt) {
  const std::int64_t k = 1024;
  const std::vector<std::pair<std::string, std::int64_t>> cases = {
      {"0", 0},
      {"7", 7},
      {"7B", 7},
      {"64K", 64 * k},
      {"64k", 64 * k},
      {"64KB", 64 * k},
      {"64kb", 64 * k},
      {"64KiB", 64 * k},
      {"64kib", 64 * k},
      {"3M", 3 * k * k},
      {"1GiB", k * k * k},
      {"1TB", k * k * k * k},
      {"9223372036854775807", std::numeric_limits<std::int64_t>::max()}};
  for (const auto& [text, bytes] : cases) EXPECT_EQ(parse_size(text), bytes) << text;
}

TEST(Sizes, AreWrittenInTheLargestUnitThatIsWhole) {
  const std::vector<std::pair<std::int64_t, std::pair<std::string, std::string>>> cases = {
      {0, {"0 B", "0"}},
      {1000, {"1000 B", "1000"}},
      {1024, {"1 KiB", "1K"}},
      {131071, {"131071 B", "131071"}},
      {std::int64_t{1536} << 20, {"1536 MiB", "1536M"}},
      {std::int64_t{1} << 50, {"1024 TiB", "1024T"}}};
  for (const auto& [bytes, texts] : cases) {
    EXPECT_EQ(size_in_words(bytes), texts.first);
    EXPECT_EQ(size_as_option(bytes), texts.second);
    EXPECT_EQ(parse_size(texts.first), bytes);
    EXPECT_EQ(parse_size(texts.second), bytes);
  }
}

TEST(Sizes, WhatIsNoSizeIsNone) {
  for (const std::string text :
       {"", "K", "KiB", "B", "iB", "1iB", "1  K", " K", "1 ki B", "1.5M", "-1", "+1", "0x10", "1KK",
        "1Q", "1BK", "9223372036854775808", "9007199254740992K", "8388608T"}) {
    EXPECT_EQ(parse_size(text), std::nullopt) << text;
  }
}

TEST(Sizes, ListsHoldSizesAndRangesOfAllForms) {
  EXPECT_EQ(*parse_sizes("1K:8K"), (Sizes{1024, 2048, 4096, 8192}));
  EXPECT_EQ(*parse_sizes("1K-8K"), *parse_sizes("1K:8K"));
  EXPECT_EQ(*parse_sizes("1KB:8KiB:4"), (Sizes{1024, 4096}));
  EXPECT_EQ(*parse_sizes("7,1K:4K,2K,1:3"), (Sizes{1, 2, 7, 1024, 2048, 4096}));
}

TEST(Sizes, ADashHasNoFactorAndAListNoGaps) {
  for (const std::string text : {"1K-8K-2", "1K:4K,", ",1K", "1K-", "-1K", "1K:2K-3K", "4K-1K"}) {
    const auto sizes = parse_sizes(text);
    ASSERT_FALSE(sizes) << text;
    EXPECT_EQ(sizes.errors().front().code, Code::M01) << text;
  }
}

TEST(Sizes, AreAtMost1024) {
  std::string many = "1:1024T";
  for (int i = 0; i < 30; ++i) many += ",3:1024T";
  EXPECT_FALSE(parse_sizes(many));  // counted before equal ones are joined
}

}  // namespace
}  // namespace forestcoll
