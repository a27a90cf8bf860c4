// `forestcoll explain`, and that it knows what there is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
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

/// The sources, but for the table of codes.
std::string sources() {
  std::string all;
  for (const char* folder : {"src", "tools/forestcoll", "tools/run"}) {
    for (const auto& entry : fs::recursive_directory_iterator(source_path(folder))) {
      if (entry.is_regular_file() && entry.path().filename() != "codes.cpp") {
        all += read_file(entry.path());
      }
    }
  }
  return all;
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

// A code is an enumerator wherever the program decides by it, and never text.
TEST(Explain, EveryCodeHasAMeaningAndIsUsed) {
  const std::string text = sources();
  std::set<std::string> known;
  for (const CodeInfo& info : codes()) {
    const std::string name(info.name);
    EXPECT_TRUE(known.insert(name).second) << name << " stands twice";
    EXPECT_FALSE(info.meaning.empty()) << name;
    const bool is_of_a_rule = info.about == About::schedule;  // the checker's, by their numbers
    EXPECT_TRUE(is_of_a_rule || text.find("Code::" + name) != std::string::npos) << name;
    EXPECT_EQ(text.find('"' + name + '"'), std::string::npos) << name << " stands as text";
  }
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
