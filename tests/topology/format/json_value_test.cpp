#include "topology/format/json_value.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "topology/format/text_encoding.hpp"

namespace forestcoll::topology {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

JsonValue parse(const std::string& text) {
  Findings findings("test.json");
  const auto value = parse_json(text, findings);
  EXPECT_TRUE(value) << text;
  EXPECT_FALSE(findings.has_errors());
  return value.value_or(JsonValue());
}

Diagnostic error_of(const std::string& text) {
  Findings findings("test.json");
  EXPECT_EQ(parse_json(text, findings), std::nullopt);
  const auto errors = findings.all();
  EXPECT_EQ(errors.size(), 1U);
  return errors.empty() ? Diagnostic() : errors.front();
}

TEST(JsonValue, NumbersKeepTheirText) {
  const JsonValue value = parse("[1, -2, 370.8, 1e3, 18446744073709551616, 0.10]");
  std::vector<std::string> texts;
  for (const JsonValue& item : value.items) texts.push_back(item.text);
  EXPECT_THAT(texts, ElementsAre("1", "-2", "370.8", "1e3", "18446744073709551616", "0.10"));
}

TEST(JsonValue, KeysKeepTheirOrder) {
  const JsonValue value = parse(R"({"b": 1, "a": {"c": null}, "": true})");
  EXPECT_THAT(value.keys, ElementsAre("b", "a", ""));
  EXPECT_EQ(value.find("b")->text, "1");
  EXPECT_EQ(value.find("a")->find("c")->kind, JsonValue::Kind::null);
  EXPECT_EQ(value.find("x"), nullptr);
}

TEST(JsonValue, DuplicateKeysAreFoundAndTheRestIsRead) {
  Findings findings("test.json");
  const auto value = parse_json(R"({"a/b": [{"x": 1, "y": 2, "x": 3}]})", findings);
  ASSERT_TRUE(value);
  ASSERT_EQ(findings.all().size(), 1U);
  EXPECT_EQ(findings.all().front().where, "/a~1b/0/x");
  EXPECT_EQ(value->find("a/b")->items[0].items.size(), 3U);
}

TEST(JsonValue, DepthIsBounded) {
  EXPECT_TRUE(parse(std::string(64, '[') + std::string(64, ']')).kind == JsonValue::Kind::array);
  EXPECT_THAT(error_of(std::string(65, '[') + std::string(65, ']')).message,
              HasSubstr("deeper than 64"));
  EXPECT_EQ(error_of(std::string(1'000'000, '[')).code, Code::E01);
}

TEST(JsonValue, SyntaxErrorsHaveLineAndColumn) {
  EXPECT_EQ(error_of("{\n  \"a\": 1,\n  \"b\": nope\n}").where, "3:9");
  EXPECT_EQ(error_of("[1,\n2").where, "2:2");
  EXPECT_THAT(error_of("[1,\n2").message, HasSubstr("ends in the middle"));
  EXPECT_THAT(error_of("[1] x").message, HasSubstr("not JSON"));
}

TEST(JsonValue, MessagesAreBounded) {
  EXPECT_LT(error_of("\"" + std::string(1'000'000, 'x')).message.size(), 400U);
  EXPECT_LT(error_of("[1, \"" + std::string(1'000'000, 'x') + "\n\"]").message.size(), 400U);
}

TEST(JsonValue, ANumberBeyondTheRangeOfDoublesIsOutOfRange) {
  const Diagnostic error = error_of(R"({"links": [{"bandwidth": 1e999}]})");
  EXPECT_EQ(error.code, Code::E05);
  EXPECT_EQ(error.where, "/links/0/bandwidth");
}

TEST(Encoding, OnlyUtf8IsText) {
  for (const char* bad :
       {"\"\x80\"", "\"\xC0\xAF\"", "\"\xE0\x80\x80\"", "\"\xED\xA0\x80\"", "\"\xF4\x90\x80\x80\"",
        "\"\xF0\x80\x80\x80\"", "\"\xE2\x82", "\"\xFE\""}) {
    EXPECT_THAT(error_of(bad).message, HasSubstr("not text")) << bad;
  }
  EXPECT_EQ(parse("\"é€😀\"").text, "é€😀");
}

TEST(Encoding, LinesAndColumnsCountFromOne) {
  EXPECT_EQ(line_and_column("ab\ncd", 0), "1:1");
  EXPECT_EQ(line_and_column("ab\ncd", 4), "2:2");
  EXPECT_EQ(line_and_column("ab\n", 3), "2:1");
}

TEST(Encoding, ExcerptsStayOnTheLineAndCutNoCharacter) {
  EXPECT_EQ(excerpt_around("abc\ndef\nghi", 5), "def");
  EXPECT_EQ(excerpt_around("0123456789abcdefghijklmnopqrstuvwxyz0123456789", 12),
            "23456789abcdefghijklmnopqrstuv");
  EXPECT_EQ(first_bytes("aé", 2), "aé");
  EXPECT_EQ(first_bytes("aéb", 1), "a");
}

TEST(Quote, IsOneBoundedLine) {
  EXPECT_EQ(quote("a\nb\x7f"), "\"a\\u000ab\\u007f\"");
  EXPECT_LT(quote(std::string(1000, 'x')).size(), 70U);
}

TEST(Pointer, EscapesAndIsBounded) {
  EXPECT_EQ(pointer_token("a/b~c"), "a~1b~0c");
  EXPECT_LT(pointer_token(std::string(100'000, 'x')).size(), 250U);
}

TEST(Findings, OfOneKindAreCapped) {
  Findings findings("f");
  for (int i = 0; i < 250; ++i) findings.error(Code::E04, "/x", "unknown");
  for (int i = 0; i < 3; ++i) findings.warning(Code::W03, "/y", "twice");
  const auto all = findings.all();
  ASSERT_EQ(all.size(), 100U + 1U + 3U);
  EXPECT_EQ(all[100].message, "and 150 more of this kind");
  EXPECT_EQ(findings.warnings().size(), 3U);
}

}  // namespace
}  // namespace forestcoll::topology
