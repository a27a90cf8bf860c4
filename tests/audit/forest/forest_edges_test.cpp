// Edges that are written as this program writes them are read at once, all others event by event:
// what is said of them must not depend on that.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "forestcoll/verify.hpp"

namespace audit_test {
namespace {

/// The names of three ranks and a switch, as JSON spells them.
struct Spelling {
  std::string_view root, near, far, by;
};

constexpr Spelling kSpellings[] = {
    {"a", "b", "c", "s"},
    {"box0/gpu0", "box0/gpu1", "box0/gpu2", ""},
    {R"(a\\b)", R"(a\b)", "c", "s"},
    {"a", R"(\")", R"(\u0041)", R"(\\)"},
    {"\xC3\xA9", R"(\u00e8)", "\xE2\x82\xAC", "A"},
};

std::string usual_edge(std::string_view src, std::string_view dst, std::string_view by) {
  return fmt::format(R"({{"src":"{}","dst":"{}","path":["{}","{}","{}"]}})", src, dst, src, by,
                     dst);
}

// With a blank after the brackets of its edges it is read event by event; one before them keeps the
// columns.
std::string forest_with(const Spelling& names, const std::vector<std::string>& edges, bool usual) {
  std::string list, before;
  for (const std::string& edge : edges) {
    if (!list.empty()) list += ',';
    list += usual ? edge : "{ " + edge.substr(1);
    if (usual) before += ' ';
  }
  return fmt::format(
      R"({{"format":"forestcoll-forest","version":1,"collective":"broadcast","k":1,)"
      R"("algbw":{{"exact":"1","value":1}},"optimum":{{"exact":"1","value":1}},)"
      R"("ranks":["{}","{}","{}"],"trees":[{{"root":"{}","multiplicity":1,"height":2,{}"edges":[{}]}}]}})",
      names.root, names.near, names.far, names.root, before, list);
}

std::string said_of(const std::string& text) {
  const auto verdict = forestcoll::verify(text, "f", nullptr, {});
  std::string said;
  for (const auto& each : verdict ? verdict->findings : verdict.errors()) {
    said += to_string(each) + "\n";
  }
  return said;
}

TEST(ForestEdges, AreReadTheSameHoweverTheyAreWritten) {
  for (const Spelling& names : kSpellings) {
    const std::string first = usual_edge(names.root, names.near, names.by);
    const std::string second = usual_edge(names.near, names.far, names.by);
    EXPECT_EQ(said_of(forest_with(names, {first, second}, true)), "");
    EXPECT_EQ(said_of(forest_with(names, {first, second}, false)), "");
    const auto expect_same = [&](const std::string& changed) {
      EXPECT_EQ(said_of(forest_with(names, {first, changed}, true)),
                said_of(forest_with(names, {first, changed}, false)))
          << changed;
    };
    for (std::size_t i = 1; i < second.size(); ++i) {
      expect_same(second.substr(0, i) + second.substr(i + 1));
      for (const char c : std::string_view("{}[]\",:\\ ab0\x01\xC3")) {
        std::string changed = second;
        changed[i] = c;
        expect_same(changed);
        expect_same(changed.insert(i + 1, 1, second[i]));
      }
    }
  }
}

TEST(ForestEdges, PathsMayBeLongOrEmpty) {
  const Spelling names = kSpellings[0];
  const std::string first = usual_edge("a", "b", "s");
  for (const std::string_view path :
       {"", R"("b")", R"("b","c")", R"("b","s","t","u","c")", R"("b","a","c")", R"("c","s","b")",
        R"("b",null,"c")", R"("b" ,"s","c")", R"("b","s","c",)"}) {
    const std::string edge = fmt::format(R"({{"src":"b","dst":"c","path":[{}]}})", path);
    EXPECT_EQ(said_of(forest_with(names, {first, edge}, true)),
              said_of(forest_with(names, {first, edge}, false)))
        << edge;
  }
  EXPECT_EQ(said_of(forest_with(names, {first, R"({"src":"b","dst":"c","path":["b","c"]})"}, true)),
            "");
}

}  // namespace
}  // namespace audit_test
