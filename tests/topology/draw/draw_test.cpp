// Pictures: what is in them. How they look was looked at.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "forestcoll/convert.hpp"
#include "forestcoll/generate.hpp"
#include "support/topology_of.hpp"
#include "topology/draw/picture.hpp"
#include "topology/topology_testing.hpp"

namespace forestcoll::testing {
namespace {

using topology::Edge;
using topology::Item;
using topology::ItemKind;
using topology::make_picture;
using topology::Picture;
using topology::Side;

// All nodes but one.
std::vector<NodeId> all_but(const Topology& topology, NodeId one) {
  std::vector<NodeId> nodes;
  for (std::size_t i = 0; i < topology.nodes.size(); ++i) {
    if (NodeId(i) != one) nodes.push_back(NodeId(i));
  }
  return nodes;
}

const Item& item(const Picture& picture, const std::string& name) {
  const auto at = std::ranges::find_if(
      picture.items, [&](const Item& i) { return std::ranges::count(i.names, name) > 0; });
  EXPECT_NE(at, picture.items.end()) << name;
  return *at;
}

TEST(Picture, SmallFabricsNodeByNode) {
  const Topology topology =
      test::generated_topology("dgx-a100", {{"boxes", "2"}, {"fabric", "odd-even"}});
  const Picture picture = make_picture(topology, {.sending = all_but(topology, NodeId(0))});
  EXPECT_EQ(picture.items.size(), topology.nodes.size());
  EXPECT_EQ(picture.edges.size(), topology.links.size());
  EXPECT_EQ(std::ranges::count(picture.edges, true, &Edge::crosses), 2);
  EXPECT_EQ(item(picture, "box0/gpu0").side, Side::receives);
  EXPECT_EQ(item(picture, "box1/gpu0").side, Side::sends);
  // From bottom to top: NVSwitch, GPU, NIC, switch.
  EXPECT_EQ(item(picture, "box1/nvsw").level, 0U);
  EXPECT_EQ(item(picture, "box1/gpu5").level, 1U);
  EXPECT_EQ(item(picture, "box1/nic5").level, 2U);
  EXPECT_EQ(item(picture, "ib0").level, 3U);
}

TEST(Picture, LargeFabricsBoxByBox) {
  const Topology topology = test::generated_topology(
      "dgx-h100", {{"boxes", "128"}, {"fabric", "rail-spine"}, {"oversubscription", "2"}});
  // Box 5 has to be left by the others' data.
  std::vector<NodeId> sending;
  for (std::size_t i = 0; i < topology.nodes.size(); ++i) {
    if (topology.nodes[NodeId(i)].box != "box5") sending.push_back(NodeId(i));
  }
  const Picture picture = make_picture(topology, {.sending = sending});
  // Four units of boxes and of leaves, box5, the spines.
  EXPECT_EQ(picture.items.size(), 10U);
  EXPECT_EQ(item(picture, "box0").names.size(), 31U);
  EXPECT_EQ(item(picture, "box5").names.size(), 1U);
  EXPECT_EQ(item(picture, "box5").side, Side::receives);
  EXPECT_EQ(item(picture, "box40").names.size(), 32U);
  EXPECT_EQ(item(picture, "box40").gpus, 8U);
  EXPECT_EQ(item(picture, "spine3").names.size(), 4U);
  for (const Edge& edge : picture.edges) {
    const Item &a = picture.items[edge.a], &b = picture.items[edge.b];
    if (std::ranges::count(a.names, "box40") + std::ranges::count(b.names, "box40") == 0) continue;
    EXPECT_EQ(edge.links, 256U);
    EXPECT_EQ(edge.there, Ratio(256 * 50));
    EXPECT_EQ(edge.back, Ratio(256 * 50));
    EXPECT_FALSE(edge.crosses);
  }
  EXPECT_EQ(std::ranges::count(picture.edges, true, &Edge::crosses), 1);
}

// 32 leaves of 4 boxes, of which box0 stands apart: what is left are two leaves and their boxes.
TEST(Picture, LeavesWithTheirBoxesShareAnItemWhereThereAreMany) {
  const Topology topology =
      test::generated_topology("dgx-a100", {{"boxes", "128"}, {"fabric", "fat-tree"}});
  std::vector<NodeId> sending;
  for (std::size_t i = 0; i < topology.nodes.size(); ++i) {
    if (topology.nodes[NodeId(i)].box != "box0") sending.push_back(NodeId(i));
  }
  const Picture picture = make_picture(topology, {.sending = sending});
  EXPECT_EQ(picture.items.size(), 6U);
  EXPECT_EQ(item(picture, "box4").sets, 31U);
  EXPECT_EQ(item(picture, "box4").names.size(), 124U);
  EXPECT_EQ(item(picture, "leaf31").names.size(), 31U);
  EXPECT_EQ(item(picture, "leaf0").names.size(), 1U);
  EXPECT_EQ(item(picture, "box1").names.size(), 3U);
  EXPECT_EQ(item(picture, "spine0").sets, 1U);
  const std::string dot = draw(topology, {.sending = sending}).dot;
  EXPECT_THAT(dot, HasSubstr("31 times 4 boxes of 8 GPUs"));
  EXPECT_THAT(dot, HasSubstr("31 switches"));
  EXPECT_THAT(dot, HasSubstr("992 links, 24800 GB/s"));
  // Where few are left to draw, each leaf stays apart.
  const Topology few =
      test::generated_topology("dgx-a100", {{"boxes", "32"}, {"fabric", "fat-tree"}});
  EXPECT_EQ(make_picture(few, {}).items.size(), 8U + 8 + 1);
}

TEST(Picture, DividedBoxesStayWholeUnlessThereAreMany) {
  const Topology topology =
      test::generated_topology("dgx-h100", {{"boxes", "32"}, {"fabric", "rail"}});
  const Picture one = make_picture(topology, {.sending = all_but(topology, NodeId(3))});
  EXPECT_EQ(item(one, "box0/gpu3").side, Side::receives);
  EXPECT_EQ(item(one, "box0/gpu3").cluster, "box0");
  EXPECT_EQ(item(one, "box1").names.size(), 31U);
  // The other boxes are next to the rails, and these are below the NICs of the one.
  EXPECT_GT(item(one, "rail0").level, item(one, "box0/nic0").level);
  std::vector<NodeId> gpus_0;
  for (std::size_t i = 0; i < topology.nodes.size(); ++i) {
    if (topology.nodes[NodeId(i)].id.ends_with("gpu0")) gpus_0.push_back(NodeId(i));
  }
  const Picture all = make_picture(topology, {.sending = gpus_0});
  EXPECT_EQ(item(all, "box7").side, Side::divided);
  EXPECT_EQ(item(all, "box7").names.size(), 32U);
}

TEST(Picture, DisabledPartsAreLeftOut) {
  const Topology topology = parse_valid(flat_file(
      R"({"id":"g[0-2]","type":"compute"},{"id":"x","type":"switch","enabled":false})",
      R"({"src":"g[0-1]","dst":"g2","bandwidth":1},{"src":"g[0-2]","dst":"x","bandwidth":1},
                   {"src":"g0","dst":"g1","bandwidth":1,"enabled":false})"));
  const Picture picture = make_picture(topology, {});
  EXPECT_EQ(picture.items.size(), 3U);
  EXPECT_EQ(picture.edges.size(), 2U);
}

TEST(Picture, DirectionsAreSummedApart) {
  const Topology topology = parse_valid(
      flat_file(R"({"id":"g[0-1]","type":"compute"})",
                R"({"src":"g1","dst":"g0","bandwidth":3},{"src":"g0","dst":"g1","bandwidth":4,
                   "duplex":"simplex"})"));
  const Picture picture = make_picture(topology, {});
  ASSERT_EQ(picture.edges.size(), 1U);
  EXPECT_EQ(picture.edges[0].there, Ratio(7));
  EXPECT_EQ(picture.edges[0].back, Ratio(3));
  EXPECT_EQ(picture.edges[0].links, 2U);
  EXPECT_THAT(draw(topology).dot, HasSubstr("2 links, 7 / 3 GB/s"));
}

// A NIC or a PCIe switch that is a node for either direction is one thing to look at.
TEST(Picture, TheTwoNodesOfADeviceAreDrawnAsOne) {
  const Topology topology = parse_valid(flat_file(
      R"({"id":"gpu[0-1]","type":"compute"},{"id":"nic_out0","type":"switch"},
         {"id":"nic_in0","type":"switch"},{"id":"ib","type":"switch"})",
      R"({"src":"gpu[0-1]","dst":"ib","bandwidth":1},
         {"src":"gpu[0-1]","dst":"nic_out0","bandwidth":20,"duplex":"simplex","kind":"pcie"},
         {"src":"nic_in0","dst":"gpu[0-1]","bandwidth":20,"duplex":"simplex","kind":"pcie"},
         {"src":"nic_out0","dst":"ib","bandwidth":25,"duplex":"simplex"},
         {"src":"ib","dst":"nic_in0","bandwidth":25,"duplex":"simplex"})"));
  const Picture picture = make_picture(topology, {.sending = {NodeId(0), NodeId(2)}});
  EXPECT_EQ(picture.items.size(), 4U);
  EXPECT_EQ(item(picture, "nic0").side, Side::divided);
  ASSERT_EQ(picture.edges.size(), 5U);
  for (const Edge& edge : picture.edges) {
    EXPECT_EQ(edge.links, 1U);
    EXPECT_EQ(edge.there, edge.back);
  }
}

TEST(Picture, DirectionsStayApartWhereItemsMerge) {
  const Topology topology = parse_valid(flat_file(
      R"({"id":"a","type":"compute"},{"id":"s","type":"switch"},{"id":"b","type":"compute"})",
      R"({"src":"a","dst":"s","bandwidth":1},{"src":"b","dst":"s","bandwidth":1},
         {"src":"a","dst":"s","bandwidth":2,"duplex":"simplex"},
         {"src":"b","dst":"s","bandwidth":2,"duplex":"simplex"})"));
  const Picture picture = make_picture(topology, {.detail = 1});
  ASSERT_EQ(picture.items.size(), 2U);
  ASSERT_EQ(picture.edges.size(), 1U);
  EXPECT_EQ(picture.items[picture.edges[0].a].names.size(), 2U);
  EXPECT_EQ(picture.edges[0].there, Ratio(6));
  EXPECT_EQ(picture.edges[0].back, Ratio(2));
}

TEST(Draw, NamesAreEscaped) {
  Topology topology = test::generated_topology("ring", {{"nodes", "2"}});
  topology.name = "<b>&\"";
  topology.nodes[NodeId(0)].id = "a\"<";
  topology.nodes[NodeId(1)].id = "\\N";  // which Graphviz would read as the node's own name
  const std::string dot = draw(topology, {.caption = "x < y"}).dot;
  EXPECT_THAT(dot, HasSubstr("graph \"<b>&\\\"\" {"));
  EXPECT_THAT(dot, HasSubstr("&lt;b&gt;&amp;"));
  EXPECT_THAT(dot, HasSubstr("x &lt; y"));
  EXPECT_THAT(dot, HasSubstr("label=\"a\\\"<\""));
  EXPECT_THAT(dot, HasSubstr("label=\"\\\\N\""));
  EXPECT_THAT(
      draw(topology, {.caption = "x < y"}).svg,
      AllOf(HasSubstr("&lt;b&gt;&amp;"), HasSubstr("x &lt; y"), HasSubstr(">a&quot;&lt;<")));
}

// From the GPUs up, as the file has them.
TEST(Draw, RowsKeepTheirOrder) {
  const Topology topology =
      test::generated_topology("dgx-a100", {{"boxes", "2"}, {"fabric", "rail"}});
  const topology::Sheet sheet = make_sheet(make_picture(topology, {}), topology, {});
  std::map<std::string, topology::Spot> at;
  for (const topology::SheetNode& node : sheet.nodes) at[node.tip] = node.at;
  for (int i = 0; i < 7; ++i) {
    for (const std::string name : {"box0/gpu", "box1/gpu", "box0/nic", "rail"}) {
      EXPECT_LT(at.at(name + std::to_string(i)).x, at.at(name + std::to_string(i + 1)).x);
    }
  }
  EXPECT_LT(at.at("box0/nvsw").y, at.at("box0/gpu0").y);
  EXPECT_LT(at.at("box0/gpu0").y, at.at("box0/nic0").y);
  EXPECT_LT(at.at("box0/nic0").y, at.at("rail0").y);
  EXPECT_EQ(sheet.nodes[8].shape, topology::Shape::switch_node);
  EXPECT_EQ(std::ranges::count(sheet.nodes, topology::Shape::nic, &topology::SheetNode::shape), 16);
}

// A letter on their links, one for what is alike in all boxes.
TEST(Draw, LinksSayWhichCapacitiesTheyShare) {
  const Topology topology = parse_valid(R"({"format":"forestcoll-topology","version":1,
    "templates":{"t":{"nodes":[{"id":"g[0-1]","type":"compute"},{"id":"sw","type":"switch"}],
      "links":[{"src":"g[0-1]","dst":"sw","bandwidth":10}],
      "limits":[{"name":"bridge","links":["g[0-1]->sw"],"bandwidth":12},
                {"links":["g0~sw"],"bandwidth":15}]}},
    "boxes":[{"id":"box[0-1]","template":"t"}],
    "links":[{"src":"box0/sw","dst":"box1/sw","bandwidth":8}]})");
  const Picture picture = make_picture(topology, {});
  const auto marks = [&](const std::string& gpu) {
    const auto at = std::ranges::find_if(picture.edges, [&](const Edge& edge) {
      return picture.items[edge.a].names.front() == gpu ||
             picture.items[edge.b].names.front() == gpu;
    });
    return at == picture.edges.end() ? std::vector<std::size_t>{9} : at->limits;
  };
  EXPECT_EQ(marks("box0/g0"), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(marks("box1/g0"), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(marks("box1/g1"), (std::vector<std::size_t>{0}));
  const std::string svg = draw(topology).svg;
  EXPECT_THAT(svg, HasSubstr("limits that links share, by letter: a bridge, 12 GB/s; b on g0 "));
  EXPECT_THAT(svg, HasSubstr(">a, b</text>"));
}

TEST(Draw, TheLegendCountsCables) {
  EXPECT_THAT(draw(test::generated_topology("dgx-a100")).svg,
              HasSubstr(">nvlink 300 GB/s = 12 × 25</text>"));
  EXPECT_THAT(draw(test::generated_topology("mixed")).svg,
              HasSubstr(">nvlink 300 to 450 GB/s</text>"));
}

TEST(Draw, OneWayLinksHaveArrows) {
  EXPECT_THAT(draw(test::generated_topology("kautz")).dot, HasSubstr("dir=forward"));
  EXPECT_THAT(draw(test::generated_topology("torus")).dot, Not(HasSubstr("dir=forward")));
}

TEST(Draw, SameBytesEveryTime) {
  const Topology topology =
      test::generated_topology("dgx-h100", {{"boxes", "40"}, {"fabric", "rail-spine"}});
  EXPECT_EQ(draw(topology).dot, draw(topology).dot);
  EXPECT_EQ(draw(topology).svg, draw(topology).svg);
}

}  // namespace
}  // namespace forestcoll::testing
