// The scanner of JSON against nlohmann's parser, event by event.
#include "audit/common/scan_json.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace forestcoll::audit {
namespace {

/// What was sent, one event per line.
struct Trace {
  std::string said;
  std::size_t most = SIZE_MAX;  ///< events after which it wants no more
  std::size_t events = 0;
  bool say(const std::string& event) {
    said += event + "\n";
    return ++events < most;
  }
  bool null() { return say("null"); }
  bool boolean(bool value) { return say(value ? "true" : "false"); }
  bool number_integer(std::int64_t value) { return say(fmt::format("integer {}", value)); }
  bool number_unsigned(std::uint64_t value) { return say(fmt::format("unsigned {}", value)); }
  bool string(std::string_view text) { return say(fmt::format("string {}", text)); }
  bool key(std::string_view text) { return say(fmt::format("key {}", text)); }
  bool end_object() { return say("}"); }
  bool end_array() { return say("]"); }
};

struct OurTrace : Trace {
  bool number_float(std::string_view text) { return say(fmt::format("float {}", text)); }
  bool start_object() { return say("{"); }
  bool start_array() { return say("["); }
};

struct TheirTrace : Trace {
  bool number_float(double, const std::string& text) { return say(fmt::format("float {}", text)); }
  bool start_object(std::size_t) { return say("{"); }
  bool start_array(std::size_t) { return say("["); }
  bool binary(const std::vector<std::uint8_t>&) { return say("binary"); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) {
    return false;
  }
};

void expect_same(const std::string& text) {
  OurTrace ours;
  const auto error = JsonScanner(std::string_view(text), ours).run();
  TheirTrace theirs;
  const bool sound = nlohmann::json::sax_parse(text, &theirs);
  EXPECT_EQ(!error.has_value(), sound) << text;
  if (sound) {
    EXPECT_EQ(ours.said, theirs.said) << text;
  }
}

const std::string kSample =
    "{\"a\": [1, -2, 0, -0, 3.5, 1e9, 18446744073709551616, -9223372036854775809],\n"
    "\t\"\": {\"deep\": [[], {}, [{\"x\": null}]]}, \"t\": true , \"f\": false,\r\n"
    " \"text\": \"plain \\\" \\\\ \\/ \\b\\f\\n\\r\\t \\u00e9 \\u20AC \\ud83d\\ude00 \xC3\xA9 "
    "\xE2\x82\xAC \xF0\x9F\x98\x80\"}";

TEST(ScanJson, SendsWhatNlohmannSends) {
  for (const std::string& text :
       {kSample, std::string("[]"), std::string("{}"), std::string("\"x\""), std::string("0"),
        std::string(" null "), std::string("\xEF\xBB\xBF[1]"), std::string("[\"\\u0000\"]")}) {
    expect_same(text);
    OurTrace ours;
    EXPECT_FALSE(JsonScanner(std::string_view(text), ours).run()) << text;
  }
}

TEST(ScanJson, AcceptsNothingElse) {
  for (const std::string_view text : {"",
                                      " ",
                                      "{",
                                      "[",
                                      "[1",
                                      "[1,",
                                      "[1,]",
                                      "[,1]",
                                      "[1 2]",
                                      "{\"a\"}",
                                      "{\"a\":}",
                                      "{\"a\":1,}",
                                      "{a:1}",
                                      "{1:2}",
                                      "{\"a\":1]",
                                      "[1}",
                                      "]",
                                      "tru",
                                      "nul",
                                      "True",
                                      "01",
                                      "-",
                                      "-x",
                                      "1.",
                                      ".5",
                                      "1e",
                                      "1e+",
                                      "+1",
                                      "0x10",
                                      "NaN",
                                      "'a'",
                                      "\"",
                                      "\"a",
                                      "\"\\",
                                      "\"\\x\"",
                                      "\"\\u12\"",
                                      "\"\\u12g4\"",
                                      "\"\\ud800\"",
                                      "\"\\ud800x\"",
                                      "\"\\ud800\\n\"",
                                      "\"\\ud800\\u0041\"",
                                      "\"\\udc00\"",
                                      "\"\n\"",
                                      "\"\x1f\"",
                                      "\"\x80\"",
                                      "\"\xC0\x80\"",
                                      "\"\xC3\"",
                                      "\"\xE0\x80\x80\"",
                                      "\"\xED\xA0\x80\"",
                                      "\"\xF0\x80\x80\x80\"",
                                      "\"\xF4\x90\x80\x80\"",
                                      "\"\xF5\x80\x80\x80\"",
                                      "[] []",
                                      "1 2",
                                      "[1]x",
                                      "\xFF",
                                      "\xEF\xBB[1]"}) {
    OurTrace ours;
    EXPECT_TRUE(JsonScanner(text, ours).run()) << text;
    expect_same(std::string(text));
  }
  expect_same(std::string("[1\0]", 4));
  expect_same(std::string("[\"\0\"]", 5));
}

// Every prefix of a text with all kinds of values, and every byte of it replaced.
TEST(ScanJson, JudgesEveryChangeOfATextAsNlohmannDoes) {
  for (std::size_t i = 0; i < kSample.size(); ++i) {
    expect_same(kSample.substr(0, i));
    for (const char c : std::string("{}[]\",:\\ 0-.u\x01\xC3\x80\xED\xF4\xFF")) {
      std::string changed = kSample;
      changed[i] = c;
      expect_same(changed);
    }
    std::string shorter = kSample;
    expect_same(shorter.erase(i, 1));
  }
}

TEST(ScanJson, SaysWhereATextEndsToBeJson) {
  for (const auto& [text, offset] :
       std::vector<std::pair<std::string, std::size_t>>{{"", 0},
                                                        {"{", 1},
                                                        {"[1,]", 3},
                                                        {"[1 2]", 3},
                                                        {"{\"a\" 1}", 5},
                                                        {"[trux]", 4},
                                                        {"[1]]", 3},
                                                        {"\"a\\q\"", 3},
                                                        {"\"\\u00g0\"", 5}}) {
    OurTrace trace;
    EXPECT_EQ(JsonScanner(std::string_view(text), trace).run(), offset) << text;
  }
}

TEST(ScanJson, StopsWhereTheHandlerWantsNoMore) {
  OurTrace whole;
  ASSERT_FALSE(JsonScanner(std::string_view(kSample), whole).run());
  for (std::size_t most = 1; most < whole.events; ++most) {
    OurTrace trace;
    trace.most = most;
    EXPECT_FALSE(JsonScanner(std::string_view(kSample), trace).run());
    EXPECT_EQ(trace.events, most);
    EXPECT_TRUE(whole.said.starts_with(trace.said));
  }
}

TEST(ScanJson, NeedsNoStackForDepth) {
  const std::string deep(500'000, '[');
  OurTrace trace;
  EXPECT_EQ(JsonScanner(std::string_view(deep), trace).run(), deep.size());
}

}  // namespace
}  // namespace forestcoll::audit
