// Text in lines, words and numbers.
#include "base/words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace forestcoll {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Words, LinesEndInEachOfThreeWays) {
  std::vector<std::string_view> texts;
  std::vector<std::size_t> offsets;
  for (const TextLine& line : lines_of("a\r\nb\rc\n\nd")) {
    texts.push_back(line.text);
    offsets.push_back(line.offset);
  }
  EXPECT_THAT(texts, ElementsAre("a", "b", "c", "", "d"));
  EXPECT_THAT(offsets, ElementsAre(0, 3, 5, 7, 8));
}

TEST(Words, BlanksAreLeftOut) {
  EXPECT_THAT(words_of(" a\tbc \n"), ElementsAre("a", "bc"));
  EXPECT_THAT(words_of(" \t"), IsEmpty());
  EXPECT_EQ(trimmed("\v a b\r\n"), "a b");
  EXPECT_EQ(trimmed(" "), "");
  EXPECT_THAT(parts_between(" a ,, b", ','), ElementsAre("a", "", "b"));
  EXPECT_THAT(parts_between("", ','), ElementsAre(""));
  EXPECT_THAT(split(" a ,, b", ','), ElementsAre(" a ", "", " b"));
  EXPECT_THAT(split_list("a[0-3,5],b,"), ElementsAre("a[0-3,5]", "b", ""));
}

TEST(Words, NumbersAreWholeTextsThatFit) {
  EXPECT_EQ(number_in<int>("-7"), -7);
  EXPECT_EQ(number_in<int>("7 "), std::nullopt);
  EXPECT_EQ(number_in<int>("3000000000"), std::nullopt);
  EXPECT_EQ(number_in<std::uint32_t>("ff", 16), 255U);
  EXPECT_EQ(number_in<double>("0.5"), 0.5);
  EXPECT_EQ(natural("-1"), std::nullopt);
  EXPECT_EQ(parse_whole("0x10"), 16);
  EXPECT_EQ(parse_whole("0B11"), 3);
  EXPECT_EQ(parse_whole("-0x1"), std::nullopt);
  EXPECT_EQ(parse_whole("9223372036854775808"), std::nullopt);
}

TEST(Words, CaseIsOfAsciiAlone) {
  EXPECT_EQ(lower_case("Ab-\xC3\x84"), "ab-\xC3\x84");
  EXPECT_EQ(upper_case("aB1"), "AB1");
}

}  // namespace
}  // namespace forestcoll
