// Forest JSON of version 3 read back: the same text again, and every error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>

#include "emit/fabric.hpp"
#include "forestcoll/branching_forest.hpp"
#include "forestcoll/emit.hpp"

namespace forestcoll::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr int kRanks = 3;

json edge(const std::string& from, const std::string& to) {
  return {{"src", from}, {"dst", to}, {"path", {from, to}}};
}

// gpu1 roots two chunks through the switch, gpu0 one past it.
json allreduce() {
  const json rate = {{"exact", "50"}, {"value", 50.0}};
  json file = {{"format", "forestcoll-forest"},
               {"version", 3},
               {"topology", "star"},
               {"collective", "allreduce"},
               {"chunks", 3},
               {"algbw", rate},
               {"optimum", rate},
               {"ranks", {"gpu0", "gpu1", "gpu2"}}};
  const auto direct = [](const std::string& from, const std::string& to) {
    return json{{"src", from}, {"dst", to}, {"path", {from, "sw", to}}};
  };
  file["reduce"] = {{{"root", "gpu1"},
                     {"multiplicity", 2},
                     {"height", 2},
                     {"edges", {edge("gpu0", "sw"), edge("gpu2", "sw"), edge("sw", "gpu1")}}},
                    {{"root", "gpu0"},
                     {"multiplicity", 1},
                     {"height", 2},
                     {"edges", {direct("gpu1", "gpu0"), direct("gpu2", "gpu1")}}}};
  file["broadcast"] = {{{"root", "gpu1"},
                        {"multiplicity", 2},
                        {"height", 2},
                        {"edges", {edge("gpu1", "sw"), edge("sw", "gpu0"), edge("sw", "gpu2")}}},
                       {{"root", "gpu0"},
                        {"multiplicity", 1},
                        {"height", 1},
                        {"edges", {direct("gpu0", "gpu1"), direct("gpu0", "gpu2")}}}};
  return file;
}

Expected<AnyForest> parse(const json& file) {
  return parse_any_forest(file.dump(), "f.json", switched(kRanks));
}

TEST(ParseBranching, GivesBackWhatWasWritten) {
  const auto read = parse(allreduce());
  ASSERT_TRUE(read) << to_string(read.errors().front());
  const auto& forest = std::get<BranchingForest>(*read);
  EXPECT_EQ(forest.chunks, 3);
  EXPECT_EQ(forest.algbw, Ratio(50));
  ASSERT_EQ(forest.reduce.size(), 2U);
  EXPECT_TRUE(forest.reduce.front().forest.is_in_forest());
  EXPECT_EQ(forest.reduce.front().switches.size(), 1U);
  EXPECT_TRUE(forest.broadcast.back().switches.empty());
  const std::string text = to_forest_json(forest, switched(kRanks));
  const auto again = parse(json::parse(text));
  ASSERT_TRUE(again);
  EXPECT_EQ(to_forest_json(std::get<BranchingForest>(*again), switched(kRanks)), text);
  for (const char* phase : {"reduce", "broadcast"}) {
    for (const std::size_t t : {0, 1}) {
      json mine = json::parse(text)[phase][t], theirs = allreduce()[phase][t];
      std::sort(mine["edges"].begin(), mine["edges"].end());
      std::sort(theirs["edges"].begin(), theirs["edges"].end());
      EXPECT_EQ(mine, theirs);
    }
  }
}

TEST(ParseBranching, OlderVersionsAreForestsOverGpus) {
  const json version_one = {
      {"format", "forestcoll-forest"},
      {"version", 1},
      {"collective", "broadcast"},
      {"k", 1},
      {"algbw", {{"exact", "25"}}},
      {"optimum", {{"exact", "25"}}},
      {"root", "gpu0"},
      {"ranks", {"gpu0", "gpu1"}},
      {"trees",
       {{{"root", "gpu0"}, {"multiplicity", 1}, {"edges", {{{"path", {"gpu0", "sw", "gpu1"}}}}}}}}};
  const auto read = parse(version_one);
  ASSERT_TRUE(read) << to_string(read.errors().front());
  EXPECT_TRUE(std::holds_alternative<CollectiveForest>(*read));
}

TEST(ParseBranching, EveryFlawHasItsPlace) {
  struct Flaw {
    const char *pointer, *value;
    Code code;
    const char* says;
  };
  for (const Flaw& flaw : {
           Flaw{"/collective", "\"allgather\"", Code::F01, "/collective: expected an allreduce"},
           Flaw{"/algbw/exact", "\"x\"", Code::F01, "/algbw: expected exact rates"},
           Flaw{"/chunks", "0", Code::F01, "/chunks: expected a positive integer"},
           Flaw{"/chunks", "2", Code::F02, "/reduce/1: expected a positive multiplicity"},
           Flaw{"/root", "\"gpu0\"", Code::F01, "/root: a broadcast and a reduce"},
           Flaw{"/trees", "[]", Code::F01, "/trees: a forest of a allreduce has the lists"},
           Flaw{"/ranks/1", "\"gpu9\"", Code::F02, "the topology has no node gpu9"},
           Flaw{"/ranks/1", "\"gpu0\"", Code::F02, "/ranks: a rank stands twice"},
           Flaw{"/ranks/1", "\"sw\"", Code::F02, "/ranks: sw is a switch"},
           Flaw{"/reduce/0/multiplicity", "0", Code::F02, "/reduce/0: expected a positive"},
           Flaw{"/broadcast/0/root", "\"gpu0\"", Code::F02, "/broadcast/0: gpu0 is reached twice"},
           Flaw{"/broadcast/0/edges/1/path", "[\"sw\",\"gpu2\"]", Code::F02,
                "gpu2 is reached twice"},
           Flaw{"/broadcast/0/edges/1/path", "[\"sw\"]", Code::F02, "a path does not lead"},
           Flaw{"/broadcast/1/edges/1/path", "[\"gpu0\",\"gpu1\",\"gpu2\"]", Code::F02,
                "a path goes through gpu1"},
           Flaw{"/broadcast/0/edges/0/path", "[\"gpu2\",\"sw\"]", Code::F02,
                "does not hang on the root"},
       }) {
    json file = allreduce();
    file[json::json_pointer(flaw.pointer)] = json::parse(flaw.value);
    const auto read = parse(file);
    ASSERT_FALSE(read) << flaw.pointer;
    EXPECT_EQ(read.errors().front().code, flaw.code) << flaw.pointer;
    EXPECT_THAT(to_string(read.errors().front()), HasSubstr(flaw.says));
  }
  json shorter = allreduce();
  shorter["broadcast"][0]["edges"].erase(2);
  EXPECT_EQ(parse(shorter).errors().front().code, Code::F02);
  shorter["broadcast"][0].erase("root");
  EXPECT_THAT(to_string(parse(shorter).errors().front()), HasSubstr("no root is named"));
}

}  // namespace
}  // namespace forestcoll::testing
