// Forests whose trees branch at switches before the checker: one that is right, and every departure
// from it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "forestcoll/topology.hpp"
#include "forestcoll/verify.hpp"
#include "support/explain.hpp"

namespace forestcoll {
namespace {

using ::testing::HasSubstr;

// Two GPUs on a switch, 30 GB/s each; a second way between them through a plain switch.
std::string fabric(const std::string& abilities) {
  return R"({"format":"forestcoll-topology","version":1,"nodes":[
        {"id":"a","type":"compute"},{"id":"b","type":"compute"},
        {"id":"w","type":"switch")" +
         abilities + R"(},{"id":"p","type":"switch"}],
        "links":[{"src":"a","dst":"w","bandwidth":30},{"src":"b","dst":"w","bandwidth":30},
                 {"src":"a","dst":"p","bandwidth":1},{"src":"b","dst":"p","bandwidth":1}]})";
}

const char* const kEchoing = R"(,"multicast":true,"reduce":true)";
const char* const kSilent = R"(,"multicast":true,"reduce":true,"echo":false)";

struct Edge {
  std::string src, dst;
  std::vector<std::string> between = {};
};

std::string tree(const std::string& root, const std::vector<Edge>& edges, int multiplicity = 1,
                 int height = 2) {
  std::string text;
  for (const Edge& edge : edges) {
    text += text.empty() ? "" : ",";
    text += R"({"src":")" + edge.src + R"(","dst":")" + edge.dst + R"(","path":[")" + edge.src;
    for (const std::string& node : edge.between) text += R"(",")" + node;
    text += R"(",")" + edge.dst + R"("]})";
  }
  return R"({"root":")" + root + R"(","multiplicity":)" + std::to_string(multiplicity) +
         R"(,"height":)" + std::to_string(height) + R"(,"edges":[)" + text + "]}";
}

// Half of the data is combined into a and copied from there, the other half at b.
const std::string kReduce =
    tree("a", {{"b", "w"}, {"w", "a"}}) + "," + tree("b", {{"a", "w"}, {"w", "b"}});
const std::string kBroadcast =
    tree("a", {{"a", "w"}, {"w", "b"}}) + "," + tree("b", {{"b", "w"}, {"w", "a"}});

std::string forest(const std::string& reduce, const std::string& broadcast,
                   const std::string& algbw = "20", const std::string& head = "\"chunks\":2") {
  return R"({"format":"forestcoll-forest","version":3,"topology":"","collective":"allreduce",)" +
         head + R"(,"algbw":{"exact":")" + algbw + R"(","value":1},"optimum":{"exact":"30",)" +
         R"("value":30},"ranks":["a","b"],"reduce":[)" + reduce + R"(],"broadcast":[)" + broadcast +
         "]}";
}

std::string verdict_of(const std::string& text, const std::string& abilities = kEchoing,
                       bool with_topology = true) {
  const auto topology = parse_topology(fabric(abilities), "t.json");
  return test::explain(text, with_topology ? &topology->topology : nullptr);
}

// Every link carries two chunks of data, and with an echo a third: what a stores into the switch
// comes back to it, and what a reads takes a's own part.
TEST(ForestBranching, LoadsCountEchoes) {
  EXPECT_EQ(verdict_of(forest(kReduce, kBroadcast, "20")), "right");
  EXPECT_EQ(verdict_of(forest(kReduce, kBroadcast, "30"), kSilent), "right");
  EXPECT_THAT(verdict_of(forest(kReduce, kBroadcast, "30")),
              HasSubstr("claims 30 GB/s; its trees reach 20"));
  EXPECT_EQ(verdict_of(forest(kReduce, kBroadcast), kEchoing, false), "right");
}

// One that does not echo may hold the sum: data goes up once and comes down once.
TEST(ForestBranching, ASwitchCanBeARoot) {
  const std::string up = tree("w", {{"a", "w"}, {"b", "w"}}, 1, 1);
  const std::string down = tree("w", {{"w", "a"}, {"w", "b"}}, 1, 1);
  const std::string text = forest(up, down, "30", "\"chunks\":1");
  EXPECT_EQ(verdict_of(text, kSilent), "right");
  EXPECT_THAT(verdict_of(text, kEchoing), HasSubstr("the root w is neither a rank nor a switch"));
  EXPECT_THAT(verdict_of(text, ""), HasSubstr("the root w is neither a rank nor a switch"));
}

std::string rooted_forest(const std::string& collective, const std::string& trees,
                          const std::string& algbw = "30", int chunks = 1) {
  return R"({"format":"forestcoll-forest","version":3,"topology":"","collective":")" + collective +
         R"(","root":"a","chunks":)" + std::to_string(chunks) + R"(,"algbw":{"exact":")" + algbw +
         R"(","value":1},"optimum":{"exact":"31","value":31},"ranks":["a","b"],"trees":[)" + trees +
         "]}";
}

// One phase, from one rank or to one. Its echo does not meet the data.
TEST(ForestBranching, BroadcastsAndReductionsHaveOneRoot) {
  const std::string down = tree("a", {{"a", "w"}, {"w", "b"}});
  const std::string up = tree("a", {{"b", "w"}, {"w", "a"}});
  EXPECT_EQ(verdict_of(rooted_forest("broadcast", down)), "right");
  EXPECT_EQ(verdict_of(rooted_forest("reduce", up)), "right");
  EXPECT_THAT(verdict_of(rooted_forest("broadcast", down, "31")),
              HasSubstr("claims 31 GB/s; its trees reach 30"));
  EXPECT_THAT(verdict_of(rooted_forest("reduce", up), R"(,"multicast":true)"),
              HasSubstr("which does not combine"));
  EXPECT_THAT(verdict_of(rooted_forest("broadcast", down), R"(,"reduce":true)"),
              HasSubstr("which does not copy"));
  const std::string other = tree("b", {{"b", "w"}, {"w", "a"}});
  EXPECT_THAT(verdict_of(rooted_forest("broadcast", down + "," + other, "30", 2)),
              HasSubstr("a broadcast has one root; the trees have 2"));
  const std::string hub = tree("w", {{"w", "a"}, {"w", "b"}}, 1, 1);
  EXPECT_THAT(verdict_of(rooted_forest("broadcast", hub), kSilent),
              HasSubstr("the root w is not a rank"));
  EXPECT_THAT(verdict_of(rooted_forest("allgather", down)),
              HasSubstr("3 is for an allreduce, broadcast or reduce"));
}

TEST(ForestBranching, OnlyAbleSwitchesBranch) {
  const std::string text = forest(kReduce, kBroadcast);
  EXPECT_THAT(verdict_of(text, R"(,"multicast":true)"),
              HasSubstr("edges end at w, which does not combine (\"reduce\")"));
  EXPECT_THAT(verdict_of(text, R"(,"reduce":true)"),
              HasSubstr("edges end at w, which does not copy (\"multicast\")"));
  // Through a switch that can do nothing a path leads.
  const auto through = [](const std::string& root, const std::string& src, const std::string& dst) {
    return tree(root, {{src, dst, {"p"}}}, 1, 1);
  };
  EXPECT_EQ(
      verdict_of(forest(through("a", "b", "a"), through("a", "a", "b"), "1", "\"chunks\":1"), ""),
      "right");
}

TEST(ForestBranching, EveryDepartureIsFound) {
  const std::string one = tree("a", {{"a", "w"}, {"w", "b"}});
  const auto with = [&](const std::string& broadcast) { return forest(kReduce, broadcast); };
  const struct {
    std::string text, says;
  } cases[] = {
      {with(one), "the trees carry 1 chunks of the 2"},
      {with(one + "," + one), "1 chunks are reduced at a, and 2 broadcast from it"},
      {with(one + "," + tree("b", {{"b", "w"}, {"w", "a"}}, 2)), "from 1 to 1, which is what is"},
      {with(one + "," + tree("b", {{"b", "w"}, {"w", "a"}}, 0)), "found 0"},
      {with(one + "," + tree("b", {{"b", "w"}, {"w", "a"}}, 1, 3)), "height is 3"},
      {with(one + "," + tree("b", {{"b", "w"}})), "a is not connected to the root"},
      {with(one + "," + tree("b", {{"w", "a"}})), "w is not connected to the root"},
      {with(one + "," + tree("b", {{"w", "a"}, {"a", "w"}})), "go in a circle"},
      {with(one + "," + tree("b", {{"b", "w"}, {"w", "a"}, {"b", "a", {"p"}}})),
       "a second edge into a"},
      {with(one + "," + tree("b", {{"b", "w"}, {"w", "a"}, {"a", "b", {"p"}}})),
       "leads into the root b"},
      {with(one + "," + tree("b", {{"b", "a"}})), "no link leads from b to a"},
      {with(one + "," + tree("b", {{"b", "w", {"a"}}, {"w", "a"}})), "passes through a"},
      {with(one + "," + tree("b", {{"b", "q"}, {"q", "a"}})), "q is not a node of the topology"},
      {with(one + "," + tree("q", {{"q", "a"}})), "the root q is neither a rank nor a switch"},
      {forest(kReduce, kBroadcast, "40"), "above the 30 GB/s that it names as the optimum"},
      {forest(kReduce, kBroadcast, "20", "\"chunks\":0"), "/chunks: expected an integer from 1"},
      {forest(kReduce, kBroadcast, "20", "\"chunks\":\"2\""), "chunks: expected an integer"},
      {forest(kReduce, kBroadcast, "20", "\"k\":1,\"chunks\":2"),
       "k: does not belong to version 3"},
      {forest(kReduce, kBroadcast, "20", "\"weights\":[1,1],\"chunks\":2"),
       "weights: do not belong to version 3"},
  };
  for (const auto& each : cases) {
    const std::string verdict = verdict_of(each.text);
    EXPECT_THAT(verdict, HasSubstr(each.says));
  }
  std::string text = forest(kReduce, kBroadcast);
  text.replace(text.find("\"version\":3"), 11, "\"version\":1");
  EXPECT_THAT(verdict_of(text), HasSubstr("chunks: belong to version 3"));
  text.replace(text.find("\"version\":1"), 11, "\"version\":4");
  EXPECT_THAT(verdict_of(text), HasSubstr("expected 1, 2 or 3, found 4"));
  std::string images = forest(kReduce, kBroadcast);
  images.replace(images.find("\"height\":2"), 10, "\"height\":2,\"images\":true");
  EXPECT_THAT(verdict_of(images), HasSubstr("images: belong to version 2"));
}

}  // namespace
}  // namespace forestcoll
