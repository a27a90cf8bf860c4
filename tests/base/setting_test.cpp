// Texts of the library in parts: words, and the settings that they name.
#include "forestcoll/setting.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <variant>

namespace forestcoll {
namespace {

// Words as they are, settings as NAME or NAME=VALUE in angle brackets.
std::string shown(std::string_view text) {
  std::string result;
  for (const TextPart& part : parts_of(text)) {
    if (const auto* words = std::get_if<std::string>(&part)) {
      result += *words;
      continue;
    }
    const Mention& mention = std::get<Mention>(part);
    result += "<" + std::string(name_of(mention.setting));
    if (mention.value) result += "=" + *mention.value;
    result += ">";
  }
  return result;
}

TEST(Setting, StandsInBackquotes) {
  EXPECT_EQ(shown("use `k`, or `format=forest`."), "use <k>, or <format=forest>.");
  EXPECT_EQ(shown("`generate()` writes"), "<generate()> writes");
  EXPECT_EQ(shown("`nvswitch=`"), "<nvswitch=>");
  EXPECT_EQ(shown("`boxes=N, fabric=NAME` joins them"), "<boxes=N, fabric=NAME> joins them");
  EXPECT_EQ(shown("`nic-bandwidth`"), "<nic_bandwidth>");
  EXPECT_EQ(shown("`boxes=N` `fabric=NAME`"), "<boxes=N> <fabric=NAME>");
}

TEST(Setting, OtherWordsStay) {
  for (const char* text : {"", "k", "`zip`", "`no_such=3`", "a ` alone", "`", "``", "`k"}) {
    EXPECT_EQ(shown(text), text);
  }
}

TEST(Setting, InputInQuotationMarksStays) {
  EXPECT_EQ(shown("no \"`k`\", but `k`"), "no \"`k`\", but <k>");
}

TEST(Setting, NamesAreDistinctAndReadBack) {
  std::set<std::string> names;
  for (int i = 0; i <= static_cast<int>(Setting::verify); ++i) {
    const auto setting = static_cast<Setting>(i);
    const std::string name(name_of(setting));
    EXPECT_TRUE(names.insert(name).second) << name;
    const auto parts = parts_of("`" + name + "`");
    ASSERT_EQ(parts.size(), 1U) << name;
    ASSERT_TRUE(std::holds_alternative<Mention>(parts.front())) << name;
    EXPECT_EQ(std::get<Mention>(parts.front()).setting, setting) << name;
  }
}

}  // namespace
}  // namespace forestcoll
