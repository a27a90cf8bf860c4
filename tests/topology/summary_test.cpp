#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "forestcoll/convert.hpp"
#include "forestcoll/generate.hpp"
#include "forestcoll/network.hpp"
#include "support/topology_of.hpp"
#include "topology/topology_testing.hpp"

namespace forestcoll::testing {
namespace {

using ::testing::Pair;

TEST(Summary, CountsBoxesAndLinks) {
  const TopologySummary summary =
      summarize(test::generated_topology("mixed", {{"a100", "2"}, {"h100", "1"}}));
  EXPECT_EQ(summary.gpus, 24U);
  EXPECT_EQ(summary.switches, 3U * 9 + 1);
  EXPECT_EQ(summary.multicast, 1U);
  EXPECT_EQ(summary.reduce, 1U);
  ASSERT_EQ(summary.boxes.size(), 1U) << "eight GPUs and nine switches each";
  EXPECT_THAT(summary.boxes[0].names, ElementsAre("a100-0", "a100-1", "h100-0"));
  EXPECT_EQ(summary.gpus_without_box, 0U);
  ASSERT_EQ(summary.links.size(), 6U);
  EXPECT_EQ(summary.links[0].kind, "ib");
  EXPECT_EQ(summary.links[0].bandwidth, Ratio(50)) << "wide ones first";
  EXPECT_EQ(summary.links[0].count, 8U);
  EXPECT_EQ(summary.links[1].bandwidth, Ratio(25));
  EXPECT_EQ(summary.links[1].count, 16U);
  EXPECT_EQ(summary.links[1].cables, 1);
  EXPECT_EQ(summary.links[2].kind, "nvlink");
  EXPECT_EQ(summary.links[2].bandwidth, Ratio(450));
  EXPECT_EQ(summary.links[2].count, 8U) << "links, not cables";
  EXPECT_EQ(summary.links[2].cables, 18);
}

TEST(Summary, BundlesOfOneWidthAndDifferentCablesStayApart) {
  const TopologySummary summary =
      summarize(parse_valid(flat_file(R"({"id":"g[0-2]","type":"compute"})",
                                      R"({"src":"g[0-1]","dst":"g2","bandwidth":50,"count":2},
                   {"src":"g0","dst":"g1","bandwidth":100})")));
  ASSERT_EQ(summary.links.size(), 2U);
  EXPECT_EQ(summary.links[0].cables, 1);
  EXPECT_EQ(summary.links[1].cables, 2);
}

TEST(Summary, IslandsByKind) {
  // NVLink joins the GPUs of a box; InfiniBand alone joins none, as NICs stand between.
  EXPECT_THAT(summarize(test::generated_topology("dgx-a100", {{"boxes", "3"}})).islands,
              ElementsAre(Pair("nvlink", 3)));
  EXPECT_THAT(summarize(test::generated_topology("mi250", {{"boxes", "2"}})).islands,
              ElementsAre(Pair("ib", 16), Pair("xgmi", 2)));
}

TEST(Summary, DisabledParts) {
  const TopologySummary summary = summarize(parse_valid(flat_file(
      R"({"id":"g[0-2]","type":"compute"},{"id":"x","type":"switch","enabled":false})",
      R"({"src":"g[0-1]","dst":"g2","bandwidth":1},{"src":"g[0-2]","dst":"x","bandwidth":1},
                   {"src":"g0","dst":"g1","bandwidth":1,"enabled":false},
                   {"src":"g0","dst":"g1","bandwidth":1,"duplex":"simplex"})")));
  EXPECT_EQ(summary.gpus, 3U);
  EXPECT_EQ(summary.switches, 0U);
  EXPECT_EQ(summary.disabled_nodes, 1U);
  EXPECT_EQ(summary.disabled_links, 4U);
  EXPECT_EQ(summary.gpus_without_box, 3U);
  EXPECT_THAT(summary.boxes, IsEmpty());
  ASSERT_EQ(summary.links.size(), 1U);
  EXPECT_EQ(summary.links[0].count, 3U);
  EXPECT_EQ(summary.links[0].one_way, 1U);
}

Ratio between_halves(const Topology& topology) {
  const Network network = *to_digraph(topology);
  const auto middle = network.ranks.begin() + static_cast<std::ptrdiff_t>(network.ranks.size() / 2);
  return bandwidth_between(network, std::vector<NodeId>(network.ranks.begin(), middle),
                           std::vector<NodeId>(middle, network.ranks.end()));
}

TEST(BandwidthBetween, HalvesOfKnownFabrics) {
  EXPECT_EQ(between_halves(test::generated_topology("dgx-a100", {{"boxes", "2"}})), Ratio(200));
  EXPECT_EQ(between_halves(test::generated_topology("hypercube")), Ratio(8));
  EXPECT_EQ(between_halves(test::generated_topology("torus", {{"dims", "4x6"}})), Ratio(12));
  EXPECT_EQ(between_halves(test::generated_topology("ring")), Ratio(2));
  EXPECT_EQ(between_halves(test::generated_topology("full-mesh")), Ratio(16));
  EXPECT_EQ(between_halves(test::generated_topology("fat-tree")), Ratio(200));
  EXPECT_EQ(between_halves(test::generated_topology("fat-tree", {{"oversubscription", "4"}})),
            Ratio(50));
}

TEST(BandwidthBetween, DirectionsCount) {
  const Network network = *to_digraph(parse_valid(
      flat_file(R"({"id":"g[0-1]","type":"compute"})",
                R"({"src":"g1","dst":"g0","bandwidth":"1/3"},{"src":"g0","dst":"g1","bandwidth":4,
                   "duplex":"simplex"})")));
  const std::vector<NodeId> a = {NodeId(0)}, b = {NodeId(1)};
  EXPECT_EQ(bandwidth_between(network, a, b), Ratio(13, 3));
  EXPECT_EQ(bandwidth_between(network, b, a), Ratio(1, 3));
}

}  // namespace
}  // namespace forestcoll::testing
