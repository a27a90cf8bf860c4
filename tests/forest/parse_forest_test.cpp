// Forest JSON read back: the same text again, and every error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "emit/fabric.hpp"
#include "forestcoll/branching_forest.hpp"
#include "forestcoll/emit.hpp"
#include "schedule/forests.hpp"

namespace forestcoll::testing {
namespace {

using ::testing::HasSubstr;

constexpr int kGpus = 5;

CollectiveForest random_sample(Collective collective, std::uint32_t seed = 5) {
  std::mt19937 random(seed);
  const auto roots = roots_of(collective, kGpus, 1);
  const Forest forest = make_forest(kGpus, random_trees(kGpus, 3, roots, random), kGpus);
  return collective_of(collective, 3, forest, forest, 1);
}

TEST(ParseForest, GivesBackWhatWasWritten) {
  const Topology topology = switched(kGpus);
  for (const Collective collective :
       {Collective::allgather, Collective::reduce_scatter, Collective::allreduce,
        Collective::broadcast, Collective::reduce}) {
    for (std::uint32_t seed = 0; seed < 20; ++seed) {
      const std::string text = to_forest_json(random_sample(collective, seed), topology);
      const auto forest = parse_forest(text, "f.json", topology);
      ASSERT_TRUE(forest) << to_string(forest.errors().front());
      EXPECT_EQ(to_forest_json(*forest, topology), text);
    }
  }
}

TEST(ParseForest, KeepsWeights) {
  CollectiveForest weighted = random_sample(Collective::allgather);
  for (int r = 0; r < kGpus; ++r) weighted.weight.push_back(r);
  const std::string text = to_forest_json(weighted, switched(kGpus));
  EXPECT_THAT(text, HasSubstr("\"weights\":[0,1,2,3,4]"));
  const auto forest = parse_forest(text, "f.json", switched(kGpus));
  ASSERT_TRUE(forest);
  EXPECT_EQ(forest->weight, weighted.weight);
}

TEST(ParseForest, RanksThatAreDisabledByNowAreKnown) {
  Topology topology = switched(kGpus);
  const std::string text = to_forest_json(random_sample(Collective::allgather), topology);
  topology.nodes[NodeId(4)].enabled = false;
  topology.ranks.pop_back();
  EXPECT_TRUE(parse_forest(text, "f.json", topology));
}

// Four ranks on a switch that turn in a circle, and one more that stays: a tree with its images,
// one without.
std::string symmetric_text() {
  return R"({"format":"forestcoll-forest","version":2,"topology":"t","collective":"allgather","k":1,)"
         R"("algbw":{"exact":"50","value":50.0},"optimum":{"exact":"50","value":50.0},)"
         R"("ranks":["gpu0","gpu1","gpu2","gpu3","gpu4"],)"
         R"("symmetry":{"trees":[{"order":4,"cycles":[["gpu0","gpu1","gpu2","gpu3"]]}]},)"
         R"("trees":[{"root":"gpu4","multiplicity":1,"height":1,"edges":[)"
         R"({"src":"gpu4","dst":"gpu0","path":["gpu4","sw","gpu0"]},)"
         R"({"src":"gpu4","dst":"gpu1","path":["gpu4","sw","gpu1"]},)"
         R"({"src":"gpu4","dst":"gpu2","path":["gpu4","sw","gpu2"]},)"
         R"({"src":"gpu4","dst":"gpu3","path":["gpu4","sw","gpu3"]}]},)"
         R"({"root":"gpu1","multiplicity":1,"height":2,"images":true,"edges":[)"
         R"({"src":"gpu1","dst":"gpu2","path":["gpu1","sw","gpu2"]},)"
         R"({"src":"gpu1","dst":"gpu4","path":["gpu1","sw","gpu4"]},)"
         R"({"src":"gpu2","dst":"gpu3","path":["gpu2","sw","gpu3"]},)"
         R"({"src":"gpu2","dst":"gpu0","path":["gpu2","sw","gpu0"]}]}]})";
}

TEST(ParseForest, WorksOutTheImagesOfVersionTwo) {
  const Topology topology = switched(5);
  const auto forest = parse_forest(symmetric_text(), "f.json", topology);
  ASSERT_TRUE(forest) << to_string(forest.errors().front());
  ASSERT_EQ(forest->broadcast->tree_count(), 5U);
  for (std::size_t t = 0; t < 5; ++t) {
    EXPECT_EQ(forest->broadcast->tree(TreeId(t)).root, Rank(t));
    EXPECT_EQ(forest->broadcast->tree(TreeId(t)).height, t == 4 ? 1 : 2);
  }
  // gpu1 feeds gpu2 and gpu4 in the file; two turns on, gpu3 feeds gpu0 and gpu4.
  EXPECT_EQ(forest->broadcast->parent(TreeId(3), Rank(0)), Rank(3));
  EXPECT_EQ(forest->broadcast->parent(TreeId(3), Rank(4)), Rank(3));
  EXPECT_EQ(forest->broadcast->parent(TreeId(3), Rank(2)), Rank(0));
  // Written out, it is a file of version 1 that says the same.
  const std::string written = to_forest_json(*forest, topology);
  const auto again = parse_forest(written, "f.json", topology);
  ASSERT_TRUE(again);
  EXPECT_EQ(to_forest_json(*again, topology), written);
}

TEST(ParseForest, SaysWhatIsWrongWithASymmetry) {
  struct Flaw {
    std::string from, to, says;
    Code code = Code::F02;
  };
  const std::string cycle = R"([["gpu0","gpu1","gpu2","gpu3"]])";
  const std::vector<Flaw> flaws = {
      {"\"order\":4", "\"order\":0", "expected a positive order"},
      {"\"order\":4", "\"order\":4294967296", "expected a positive order"},
      {"\"order\":4", "\"order\":6", "a cycle of 4 nodes does not come round in 6 steps"},
      {cycle, "[[]]", "a cycle of 0 nodes"},
      {cycle, R"([["gpu0","gpu1"],["gpu1","gpu2"]])", "a node stands in its cycles twice"},
      {cycle, R"([["gpu0","sw"]])", "a node moves to the place of one of another kind"},
      {cycle, cycle + R"(},{"order":2,"cycles":[["gpu0","gpu1"]])",
       "two generators do not commute"},
      {cycle, cycle + R"(},{"order":1073741824,"cycles":[])", "more than 50000000 edges",
       Code::T10},
      {cycle, cycle + R"(},{"order":2147483647,"cycles":[])", "more images than 2^32"},
  };
  for (const Flaw& flaw : flaws) {
    std::string text = symmetric_text();
    const auto at = text.find(flaw.from);
    ASSERT_NE(at, std::string::npos) << flaw.from;
    text.replace(at, flaw.from.size(), flaw.to);
    const auto forest = parse_forest(text, "f.json", switched(5));
    ASSERT_FALSE(forest) << flaw.says;
    EXPECT_EQ(forest.errors().front().code, flaw.code);
    EXPECT_EQ(forest.errors().front().kind,
              flaw.code == Code::T10 ? ErrorKind::limit : ErrorKind::input);
    EXPECT_THAT(forest.errors().front().message, HasSubstr(flaw.says));
  }
}

struct Edit {
  std::string from, to;
  Code code = {};
  std::string says;
};

TEST(ParseForest, SaysWhatIsWrong) {
  // Two ranks with a tree each: small enough to edit.
  const std::string good =
      R"({"format":"forestcoll-forest","version":1,"collective":"allgather","k":1,)"
      R"("algbw":{"exact":"50","value":50},"optimum":{"exact":"50","value":50},)"
      R"("ranks":["gpu0","gpu1","gpu2"],"trees":[)"
      R"({"root":"gpu0","multiplicity":1,"height":2,"edges":[)"
      R"({"src":"gpu0","dst":"gpu1","path":["gpu0","sw","gpu1"]},)"
      R"({"src":"gpu1","dst":"gpu2","path":["gpu1","sw","gpu2"]}]}]})";
  const Topology topology = switched(3);
  ASSERT_TRUE(parse_forest(good, "f.json", topology));
  const std::vector<Edit> edits = {
      {"{\"format\"", "[{\"format\"", Code::F01, "expected an object"},
      {"]}]}]}", "]}]}", Code::F01, "not well-formed JSON"},
      {"forestcoll-forest", "forestcoll-bound", Code::F01, "found \"forestcoll-bound\""},
      {"\"version\":1", "\"version\":7", Code::F01, "version 1 or 2"},
      {"allgather", "gather", Code::F01, "no collective of that name"},
      {"allgather", "allreduce", Code::F01, "\"reduce\" and \"broadcast\""},
      {"allgather", "broadcast", Code::F01, "have a root"},
      {"\"k\":1", "\"k\":0", Code::F01, "positive integer"},
      {"\"k\":1", "\"k\":1,\"weights\":[1,2]", Code::F02, "one weight per rank"},
      {"\"k\":1", "\"k\":1,\"weights\":[1,2,-1]", Code::F02, "integers from 0 on"},
      {"\"k\":1", "\"k\":18446744073709551615", Code::F01, "found a huge number"},
      {"\"exact\":\"50\"", "\"exact\":\"fifty\"", Code::F01, "exact rates"},
      {"\"trees\"", "\"trees\":[],\"trees\"", Code::F01, "stands twice"},
      {"\"gpu2\"],\"trees\"", "\"gpu9\"],\"trees\"", Code::F02, "the topology has no node gpu9"},
      {"\"gpu2\"],\"trees\"", "\"sw\"],\"trees\"", Code::F02, "sw is a switch"},
      {"\"gpu2\"],\"trees\"", "\"gpu1\"],\"trees\"", Code::F02, "a rank stands twice"},
      {"\"root\":\"gpu0\"", "\"root\":\"sw\"", Code::F02, "the root is not a rank"},
      {"\"root\":\"gpu0\",", "", Code::F02, "no root is named"},
      {"\"root\":\"gpu0\"", "\"root\":\"gpu1\"", Code::F02, "gpu1 is reached twice"},
      {"\"multiplicity\":1", "\"multiplicity\":0", Code::F02, "positive multiplicity"},
      {"[\"gpu0\",\"sw\",\"gpu1\"]", "[\"gpu0\"]", Code::F02, "from rank to rank"},
      {"[\"gpu0\",\"sw\",\"gpu1\"]", "[\"gpu0\",\"sw\"]", Code::F02, "from rank to rank"},
      {"[\"gpu0\",\"sw\",\"gpu1\"]", "[\"gpu0\",\"gpu2\",\"gpu1\"]", Code::F02,
       "goes through gpu2"},
      {"[\"gpu1\",\"sw\",\"gpu2\"]", "[\"gpu0\",\"sw\",\"gpu1\"]", Code::F02,
       "gpu1 is reached twice"},
      {"[\"gpu0\",\"sw\",\"gpu1\"]", "[\"gpu2\",\"sw\",\"gpu1\"]", Code::F02, "does not hang on"},
      {",{\"src\":\"gpu1\",\"dst\":\"gpu2\",\"path\":[\"gpu1\",\"sw\",\"gpu2\"]}", "", Code::F02,
       "gpu2 does not hang on the root"},
  };
  for (const Edit& edit : edits) {
    std::string text = good;
    const auto at = text.find(edit.from);
    ASSERT_NE(at, std::string::npos) << edit.from;
    text.replace(at, edit.from.size(), edit.to);
    const auto forest = parse_forest(text, "f.json", topology);
    ASSERT_FALSE(forest) << edit.says;
    const Diagnostic& error = forest.errors().front();
    EXPECT_EQ(error.code, edit.code) << to_string(error);
    EXPECT_THAT(error.message, HasSubstr(edit.says));
    EXPECT_EQ(error.file, "f.json");
    EXPECT_FALSE(error.remedy.empty());
  }
}

TEST(ParseForest, SurvivesEveryTruncationAndDeepNesting) {
  const Topology topology = switched(kGpus);
  const std::string text = to_forest_json(random_sample(Collective::allreduce), topology);
  for (std::size_t length = 0; length < text.size() - 2; length += 7) {
    EXPECT_FALSE(parse_forest(text.substr(0, length), "f.json", topology));
  }
  EXPECT_FALSE(parse_forest(std::string(100'000, '['), "f.json", topology));
  std::string nested;
  for (int i = 0; i < 1000; ++i) nested += "{\"trees\":[";
  EXPECT_FALSE(parse_forest(nested, "f.json", topology));
}

}  // namespace
}  // namespace forestcoll::testing
