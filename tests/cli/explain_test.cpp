// `forestcoll explain`, and that it knows what there is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <string>

#include "cli/program.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::EndsWith;
using ::testing::HasSubstr;

/// Visits what the pattern matches in the sources, but for the table of codes.
template <class Visit>
void for_each_match(const std::regex& pattern, Visit visit) {
  for (const char* folder : {"src", "tools/forestcoll"}) {
    for (const auto& entry : fs::recursive_directory_iterator(source_path(folder))) {
      if (!entry.is_regular_file() || entry.path().filename() == "codes.cpp") continue;
      const std::string text = read_file(entry.path());
      for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it) {
        visit(*it);
      }
    }
  }
}

// The codes that stand in the sources as literals. No code has an H, which GPUs have.
std::set<std::string> codes_in_sources() {
  std::set<std::string> found;
  for_each_match(std::regex("\"([A-GI-Z][0-9]{2})\""),
                 [&](const std::smatch& match) { found.insert(match[1]); });
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

TEST(Explain, KnowsEveryCodeOfTheSourcesOnce) {
  std::set<std::string> known;
  for (const CodeInfo& info : codes()) {
    EXPECT_TRUE(known.insert(std::string(info.code)).second) << info.code << " stands twice";
    EXPECT_FALSE(info.meaning.empty()) << info.code;
  }
  const auto used = codes_in_sources();
  EXPECT_GT(used.size(), 80U);
  for (const std::string& code : used) EXPECT_TRUE(known.contains(code)) << code;
}

// No error of a code is written out by hand: `make_error` takes its kind from the table.
TEST(Explain, KindsStandInTheTableAlone) {
  std::set<std::string> by_hand;
  for_each_match(std::regex(R"re(code = "([A-Z][0-9]{2})")re"),
                 [&](const std::smatch& match) { by_hand.insert(match[1]); });
  EXPECT_THAT(by_hand, ::testing::IsEmpty());
  for (const CodeInfo& info : codes()) {
    EXPECT_EQ(make_error(std::string(info.code), "").kind, info.kind) << info.code;
  }
  EXPECT_EQ(kind_of(""), ErrorKind::input);
}

TEST(Explain, AnErrorHasItsPlaceAndRemedy) {
  const Diagnostic error =
      make_error("T01", "9 threadblocks", "use fewer", {.file = "a.json", .where = "/links"});
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
