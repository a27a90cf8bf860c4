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

// The codes that stand in the sources as literals, but for the table of them. No code has an H,
// which GPUs have.
std::set<std::string> codes_in_sources() {
  const std::regex literal("\"([A-GI-Z][0-9]{2})\"");
  std::set<std::string> found;
  for (const char* folder : {"src", "tools/forestcoll"}) {
    for (const auto& entry : fs::recursive_directory_iterator(source_path(folder))) {
      if (!entry.is_regular_file() || entry.path().filename() == "codes.cpp") continue;
      const std::string text = read_file(entry.path());
      for (std::sregex_iterator it(text.begin(), text.end(), literal), end; it != end; ++it) {
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

TEST(Explain, TheDocumentHasItsTables) {
  const auto tables = run({"explain", "--markdown"});
  ASSERT_EQ(tables.code, 0) << tables.err;
  EXPECT_THAT(read_file(source_path("docs/diagnostics.md")), EndsWith(tables.out))
      << "write them anew with `forestcoll explain --markdown`";
}

}  // namespace
}  // namespace forestcoll::testing
