// `forestcoll explain`, and that it knows what there is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <string>

#include "cli/program.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/diagnostic.hpp"

namespace forestcoll::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::EndsWith;
using ::testing::HasSubstr;

/// What the first group of the pattern matches in the sources, but for the table of codes.
std::set<std::string> matches(const std::string& pattern) {
  const std::regex expression(pattern);
  std::set<std::string> found;
  for (const char* folder : {"src", "tools/forestcoll", "tools/run"}) {
    for (const auto& entry : fs::recursive_directory_iterator(source_path(folder))) {
      if (!entry.is_regular_file() || entry.path().filename() == "codes.cpp") continue;
      const std::string text = read_file(entry.path());
      for (std::sregex_iterator it(text.begin(), text.end(), expression), end; it != end; ++it) {
        found.insert((*it)[1]);
      }
    }
  }
  return found;
}

TEST(Explain, OneCodeInAnyCase) {
  const auto upper = run({"explain", "W12"});
  ASSERT_EQ(upper.code, 0) << upper.err;
  EXPECT_THAT(upper.out, HasSubstr("W12: about the topology file: ranges that look alike"));
  EXPECT_EQ(run({"explain", "w12"}).out, upper.out);
}

TEST(Explain, AnUnknownCodeIsRefused) {
  const auto result = run({"explain", "Q99"});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("there is no code \"Q99\""));
}

TEST(Explain, EveryCodeHasAMeaningAndIsUsed) {
  const auto used = matches("\\bCode::([A-Z][A-Z0-9]+)\\b");
  std::set<std::string> known;
  for (const CodeInfo& info : codes()) {
    EXPECT_TRUE(known.insert(std::string(info.name)).second) << info.name << " stands twice";
    EXPECT_FALSE(info.meaning.empty()) << info.name;
    const bool is_of_a_rule = info.about == About::schedule;  // the checker's, by their numbers
    EXPECT_TRUE(is_of_a_rule || used.contains(std::string(info.name))) << info.name;
  }
}

// A code is an enumerator wherever the program decides by it. No code has an H, which GPUs have.
TEST(Explain, NoCodeIsWrittenAsText) {
  EXPECT_THAT(matches("\"([A-GI-Z][0-9]{2})\""), ::testing::IsEmpty());
}

TEST(Explain, NamesAreReadBack) {
  for (const CodeInfo& info : codes()) {
    EXPECT_EQ(parse_code(info.name), info.code) << info.name;
    EXPECT_EQ(name_of(info.code), info.name);
    EXPECT_EQ(make_error(info.code, "").kind, info.kind) << info.name;
  }
  EXPECT_EQ(parse_code("Q99"), std::nullopt);
  EXPECT_EQ(parse_code(""), std::nullopt);
  EXPECT_EQ(name_of(std::nullopt), "");
}

TEST(Explain, AnErrorHasItsPlaceAndRemedy) {
  const Diagnostic error =
      make_error(Code::T01, "9 threadblocks", "use fewer", {.file = "a.json", .where = "/links"});
  EXPECT_EQ(error.severity, Severity::error);
  EXPECT_EQ(error.kind, ErrorKind::threadblocks);
  EXPECT_THAT(to_string(error), HasSubstr("a.json: /links: 9 threadblocks [T01]"));
  EXPECT_THAT(to_string(error), HasSubstr("use fewer"));
}

TEST(Explain, ExitCodesAreThoseOfTheKinds) {
  EXPECT_THAT(run({"explain", "T01"}).out, EndsWith("holds (exit code 3)\n"));
  EXPECT_THAT(run({"explain", "P01"}).out, EndsWith("missing (exit code 4)\n"));
  EXPECT_THAT(run({"explain", "E05"}).out, EndsWith("unit\n"));
}

TEST(Explain, TheDocumentHasItsTables) {
  const auto tables = run({"explain", "--markdown"});
  ASSERT_EQ(tables.code, 0) << tables.err;
  EXPECT_THAT(read_file(source_path("docs/diagnostics.md")), EndsWith(tables.out))
      << "write them anew with `forestcoll explain --markdown`";
}

}  // namespace
}  // namespace forestcoll::testing
