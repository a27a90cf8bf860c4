// Capacities that links share, from a file to the digraph and back.
#include "forestcoll/failures.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/topology_text.hpp"
#include "topology/topology_testing.hpp"

namespace forestcoll::testing {
namespace {

constexpr const char* kNodes = R"({"id":"g[0-2]","type":"compute"},{"id":"sw","type":"switch"})";
constexpr const char* kLinks = R"({"src":"g[0-2]","dst":"sw","bandwidth":10,"kind":"pcie"})";

std::string with_limits(const std::string& limits) {
  return flat_file(kNodes, kLinks, R"(,"limits":[)" + limits + "]");
}

// "g0->sw*2" for each use.
std::vector<std::string> uses_of(const SharedLimit& limit, const Topology& topology) {
  std::vector<std::string> uses;
  for (const SharedLimit::Use& use : limit.uses) {
    uses.push_back(topology.nodes[use.src].id + "->" + topology.nodes[use.dst].id +
                   (use.weight == Ratio(1) ? "" : "*" + use.weight.to_string()));
  }
  return uses;
}

TEST(LimitsOfFiles, NameDirectionsAsDropDoes) {
  const Topology topology = parse_valid(with_limits(
      R"({"name":"up","links":["g[0-1]->sw"],"bandwidth":"120 Gb/s"},
         {"links":["g0~sw","sw->g2"],"weights":["1/2",3],"bandwidth":7})"));
  ASSERT_EQ(topology.limits.size(), 2);
  EXPECT_EQ(topology.limits[0].name, "up");
  EXPECT_EQ(topology.limits[0].bandwidth, Ratio(15));
  EXPECT_THAT(uses_of(topology.limits[0], topology), ::testing::ElementsAre("g0->sw", "g1->sw"));
  EXPECT_THAT(uses_of(topology.limits[1], topology),
              ::testing::ElementsAre("g0->sw*1/2", "sw->g0*1/2", "sw->g2*3"));
}

TEST(LimitsOfFiles, OfTemplatesHoldForEachBox) {
  const Topology topology = parse_valid(R"({"format":"forestcoll-topology","version":1,
    "templates":{"box":{"nodes":[{"id":"g[0-1]","type":"compute"},{"id":"sw","type":"switch"}],
      "links":[{"src":"g[0-1]","dst":"sw","bandwidth":10,"kind":"pcie"}],
      "limits":[{"name":"bridge","links":["g[0-1]->sw"],"bandwidth":12},
                {"links":["kind=pcie"],"bandwidth":30}]}},
    "boxes":[{"id":"b[0-1]","template":"box"}],
    "nodes":[{"id":"top","type":"switch"}],
    "links":[{"src":"b[0-1]/sw","dst":"top","bandwidth":9,"kind":"pcie"}]})");
  ASSERT_EQ(topology.limits.size(), 4);
  EXPECT_EQ(topology.limits[0].name, "b0/bridge");
  EXPECT_EQ(topology.limits[1].name, "");
  EXPECT_EQ(topology.limits[2].name, "b1/bridge");
  EXPECT_THAT(uses_of(topology.limits[2], topology),
              ::testing::ElementsAre("b1/g0->b1/sw", "b1/g1->b1/sw"));
  EXPECT_EQ(topology.limits[3].uses.size(), 4) << "of the box's links alone";
}

TEST(LimitsOfFiles, AreWrittenAsTheyAreRead) {
  const Topology topology = parse_valid(with_limits(
      R"({"name":"a","links":["g0~sw"],"weights":["2/3"],"bandwidth":"1000/7"},
         {"links":["kind=pcie"],"bandwidth":31})"));
  const Topology again = parse_valid(to_topology_json(flat_document(topology)));
  ASSERT_EQ(again.limits.size(), 2);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(again.limits[i].name, topology.limits[i].name);
    EXPECT_EQ(again.limits[i].bandwidth, topology.limits[i].bandwidth);
    EXPECT_EQ(again.limits[i].uses, topology.limits[i].uses);
  }
}

TEST(LimitsOfFiles, HaveTheUnitOfCapacities) {
  const Network network = *to_digraph(parse_valid(
      with_limits(R"({"links":["g0->sw","g1->sw"],"weights":["1/2",1],"bandwidth":"15/2"})")));
  ASSERT_EQ(network.limits.size(), 1);
  const ArcLimit& limit = network.limits[0];
  EXPECT_EQ(Ratio(limit.capacity) * network.unit, Ratio(15)) << "weights are whole: 1 and 2";
  ASSERT_EQ(limit.uses.size(), 2);
  EXPECT_EQ(limit.uses[0].second, 1);
  EXPECT_EQ(limit.uses[1].second, 2);
  EXPECT_EQ(Ratio(network.capacity[limit.uses[0].first]) * network.unit, Ratio(10));
}

TEST(LimitsOfFiles, OfTheSameLinksTheNarrowestHolds) {
  const Network network = *to_digraph(parse_valid(with_limits(
      R"({"links":["g0->sw","g1->sw"],"bandwidth":15},
         {"links":["g1->sw","g0->sw"],"bandwidth":11})")));
  ASSERT_EQ(network.limits.size(), 1);
  EXPECT_EQ(Ratio(network.limits[0].capacity) * network.unit, Ratio(11));
}

TEST(LimitsOfFiles, StayWhereLinksFail) {
  const Topology topology = parse_valid(flat_file(
      R"({"id":"g[0-2]","type":"compute"},{"id":"sw","type":"switch"})",
      R"({"src":"g[0-2]","dst":"sw","bandwidth":10},{"src":"g0","dst":"g[1-2]","bandwidth":1})",
      R"(,"limits":[{"links":["g[0-1]->sw"],"bandwidth":12}])"));
  const auto derated = degrade(topology, {.derate = {"g0->sw=1/2"}});
  ASSERT_TRUE(derated);
  EXPECT_EQ(to_digraph(derated->topology)->limits.front().uses.size(), 2);
  const auto dropped = degrade(topology, {.drop = {"g0~sw"}});
  ASSERT_TRUE(dropped);
  EXPECT_EQ(to_digraph(dropped->topology)->limits.front().uses.size(), 1);
  const auto without = degrade(topology, {.drop = {"g[0-1]->sw"}});
  ASSERT_TRUE(without) << to_string(without.errors().front());
  EXPECT_TRUE(to_digraph(without->topology)->limits.empty());
}

TEST(LimitsOfFiles, MayNameLinksThatAreOutOfUse) {
  const Topology topology = parse_valid(
      flat_file(kNodes,
                R"({"src":"g[0-2]","dst":"sw","bandwidth":10},
         {"src":"g0","dst":"g1","bandwidth":1,"enabled":false})",
                R"(,"limits":[{"links":["g0->g1","g0->sw","g1->sw"],"bandwidth":12}])"));
  EXPECT_EQ(topology.limits.front().uses.size(), 3);
  EXPECT_EQ(to_digraph(topology)->limits.front().uses.size(), 2);
}

TEST(LimitsOfFiles, WithoutEffectAfterAFailureAreWarnedOf) {
  const Topology topology = parse_valid(with_limits(
      R"({"name":"pair","links":["g[0-1]->sw"],"bandwidth":12},
         {"name":"all","links":["g[0-2]->sw"],"bandwidth":5})"));
  const auto warnings = [&](const Failures& failures) {
    const auto left = test::valid(degrade(topology, failures));
    std::vector<std::string> codes;
    for (const Diagnostic& each : left.warnings) codes.push_back(std::string(name_of(each.code)));
    return codes;
  };
  EXPECT_THAT(warnings({.derate = {"g[0-1]->sw=0.6"}}), ::testing::ElementsAre("W01", "W16"));
  EXPECT_THAT(warnings({.derate = {"g[0-1]~sw=0.9"}}), ::testing::IsEmpty());
  // What a node that is gone was held to went with it.
  EXPECT_THAT(warnings({.drop = {"g0"}}), ::testing::IsEmpty());
  EXPECT_THAT(warnings({.members = "g0,g2"}), ::testing::IsEmpty());
}

TEST(LimitsOfFiles, WithoutALinkInUseAreWarnedOf) {
  const auto parsed =
      parse_topology(flat_file(kNodes,
                               R"({"src":"g[0-2]","dst":"sw","bandwidth":10},
         {"src":"g0","dst":"g1","bandwidth":1,"enabled":false})",
                               R"(,"limits":[{"name":"off","links":["g0->g1"],"bandwidth":12},
                              {"name":"wide","links":["g0->sw"],"bandwidth":12},
                              {"links":["sw->g1"],"bandwidth":30}])"),
                     "limits.json", {});
  ASSERT_TRUE(parsed);
  ASSERT_THAT(codes_of(parsed->warnings), ::testing::ElementsAre("W16 /limits", "W16 /limits"));
  EXPECT_THAT(parsed->warnings[0].message,
              ::testing::AllOf(::testing::HasSubstr("\"wide\" of 12 GB/s never binds"),
                               ::testing::HasSubstr(" (and 1 more limit)")));
  EXPECT_THAT(parsed->warnings[1].message,
              ::testing::HasSubstr("\"off\" of 12 GB/s holds nothing"));
}

TEST(LimitsOfFiles, ThatATemplateCannotHaveAreToldOnceForAllBoxes) {
  EXPECT_THAT(codes_of(findings_of(R"({"format":"forestcoll-topology","version":1,
    "templates":{"box":{"nodes":[{"id":"g[0-1]","type":"compute"}],
      "links":[{"src":"g0","dst":"g1","bandwidth":10,"kind":"pcie"}],
      "limits":[{"links":["kind=ib"],"bandwidth":12}]}},
    "boxes":[{"id":"b[0-2]","template":"box"}],
    "nodes":[{"id":"top","type":"switch"}],
    "links":[{"src":"b[0-2]/g0","dst":"top","bandwidth":9,"kind":"ib"}]})")),
              ::testing::ElementsAre("E17 /templates/box/limits/0/links/0"));
}

}  // namespace
}  // namespace forestcoll::testing
