#include "forestcoll/nearest.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace forestcoll {
namespace {

// The whole table, as a definition.
std::size_t distance_by_table(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
      } else {
        d[i][j] = std::min(
            {d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      }
    }
  }
  return d[a.size()][b.size()];
}

TEST(EditDistance, AgreesWithTheWholeTable) {
  std::mt19937 random(1);
  const auto word = [&] {
    std::string text(random() % 9, 'a');
    for (char& c : text) c = static_cast<char>('a' + random() % 3);
    return text;
  };
  for (int i = 0; i < 20'000; ++i) {
    const std::string a = word(), b = word();
    const std::size_t limit = random() % 5;
    const std::size_t expected = distance_by_table(a, b);
    const auto found = edit_distance(a, b, limit);
    ASSERT_EQ(found, expected <= limit ? std::optional(expected) : std::nullopt)
        << a << " " << b << " " << limit;
  }
}

TEST(NearestText, TheNearestWinsAndTheFirstOfEquals) {
  NearestText nearest("gup1");
  for (const char* id : {"nvsw", "gpu0", "gpu1", "gpu1x"}) nearest.offer(id);
  EXPECT_EQ(nearest.best(), "gpu1");
  NearestText equal("gpu9");
  for (const char* id : {"gpu3", "gpu4"}) equal.offer(id);
  EXPECT_EQ(equal.best(), "gpu3");
}

TEST(NearestText, TheLastPartOfAnIdIsMeant) {
  NearestText nearest("nic0");
  for (const char* id : {"ib0", "box0/nic", "box0/nic0", "box1/nic0", "nic1"}) nearest.offer(id);
  EXPECT_EQ(nearest.best(), "box0/nic0");
}

TEST(NearestText, CapitalLettersDoNotCount) {
  NearestText nearest("GPU-A");
  for (const char* id : {"gpu-b", "Gpu-a"}) nearest.offer(id);
  EXPECT_EQ(nearest.best(), "Gpu-a");
}

TEST(NearestText, APartOfANameIsMeantWhereNothingIsNear) {
  NearestText nearest("tree");
  for (const char* id : {"multitree", "double-tree", "trees-of-two"}) nearest.offer(id);
  EXPECT_EQ(nearest.best(), "double-tree");
  nearest.offer("tre");
  EXPECT_EQ(nearest.best(), "tre");
  NearestText begun("complet");
  for (const char* id : {"compare", "completion"}) begun.offer(id);
  EXPECT_EQ(begun.best(), "completion");
  NearestText short_one("sim");
  for (const char* command : {"bound", "simulate"}) short_one.offer(command);
  EXPECT_EQ(short_one.best(), "simulate");
}

TEST(NearestText, AnEndingThatIsMissingIsNearerThanTwoSlips) {
  NearestText begun("--out");
  for (const char* option : {"--root", "--output", "--outofplace"}) begun.offer(option);
  EXPECT_EQ(begun.best(), "--output");
  NearestText longer("synthesize");
  for (const char* command : {"simulate", "synth"}) longer.offer(command);
  EXPECT_EQ(longer.best(), "synth");
  NearestText slip("--sizs");
  for (const char* option : {"--sizs-of-all", "--sizes"}) slip.offer(option);
  EXPECT_EQ(slip.best(), "--sizes");
}

TEST(NearestText, ConsonantsAreAnAbbreviation) {
  for (const auto& [word, meant] : std::vector<std::pair<std::string, std::string>>{
           {"chk", "check"}, {"cmp", "compare"}, {"vrfy", "verify"}, {"xpln", ""}, {"nvs", ""}}) {
    const std::vector<std::string> names = {"convert", "check",   "compare",
                                            "verify",  "explain", "nvlink-switch"};
    EXPECT_EQ(nearest_word(word, names), meant) << word;
  }
}

TEST(NearestWord, CandidatesMayHaveTheirNameInside) {
  const std::vector<std::pair<int, std::string>> candidates = {{1, "ring"}, {2, "double-tree"}};
  const auto name = [](const auto& candidate) -> const std::string& { return candidate.second; };
  EXPECT_EQ(nearest_word("rng", candidates, name), "ring");
  EXPECT_EQ(nearest_word("allgather", candidates, name), "");
}

TEST(NearestText, NothingFarIsSuggested) {
  NearestText nearest("sw");
  for (const char* id : {"gpu0", "nic"}) nearest.offer(id);
  EXPECT_EQ(nearest.best(), "");
}

}  // namespace
}  // namespace forestcoll
