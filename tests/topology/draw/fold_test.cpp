// Pictures that would be too wide: what is folded, and that nothing is lost or hidden by it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "forestcoll/convert.hpp"
#include "forestcoll/generate.hpp"
#include "support/topology_of.hpp"
#include "topology/draw/labels.hpp"
#include "topology/draw/picture.hpp"
#include "topology/draw/placement.hpp"
#include "topology/topology_testing.hpp"

namespace forestcoll::testing {
namespace {

using topology::Edge;
using topology::Item;
using topology::ItemKind;
using topology::make_picture;
using topology::Picture;

constexpr std::size_t kAll = 1'000'000;

double readable() {
  return topology::readable_width(DrawOptions{}.width);
}

// Without the first GPU, as a bottleneck has it.
DrawOptions all_but_the_first(const Topology& topology) {
  DrawOptions options;
  for (std::size_t i = 0; i < topology.nodes.size(); ++i) {
    if (NodeId(i) != topology.ranks[0]) options.sending.push_back(NodeId(i));
  }
  return options;
}

const Item* find(const Picture& picture, const std::string& name) {
  const auto at = std::ranges::find_if(
      picture.items, [&](const Item& i) { return std::ranges::count(i.names, name) > 0; });
  return at == picture.items.end() ? nullptr : &*at;
}

std::size_t drawn_with(const Picture& picture, const std::string& name) {
  const Item* item = find(picture, name);
  EXPECT_NE(item, nullptr) << name;
  return item == nullptr ? 0 : item->names.size();
}

TEST(Fold, TwoRacksOf72) {
  const Topology topology = test::generated_topology("gb200-nvl72", {{"boxes", "2"}});
  const DrawOptions options = all_but_the_first(topology);
  const Picture picture = make_picture(topology, options);
  EXPECT_EQ(picture.items.size(), 8U);  // gpu0, nic0, rail0; 71 of each; nvsw; the other box
  EXPECT_EQ(drawn_with(picture, "box0/gpu0"), 1U);
  EXPECT_EQ(drawn_with(picture, "box0/gpu5"), 71U);
  EXPECT_EQ(drawn_with(picture, "rail5"), 71U);
  EXPECT_LE(width_of_rows(picture), readable());
  EXPECT_THAT(label_of(*find(picture, "box0/gpu5")), ElementsAre("71 GPUs", "gpu[1-71]"));
  const std::string dot = draw(topology, options).dot;
  EXPECT_THAT(dot, AllOf(HasSubstr("71 GPUs\\ngpu[1-71]"), HasSubstr("size=\"16.6667,")));
  // One by one where there is room for it.
  auto wide = options;
  wide.detail = wide.width = kAll;
  EXPECT_EQ(make_picture(topology, wide).items.size(), topology.nodes.size());
}

// One link of one GPU at half its rate: that GPU and what it leads to is drawn alone.
TEST(Fold, ADegradedGpuIsDrawnOnItsOwn) {
  Topology topology = test::generated_topology("gb200-nvl72", {{"boxes", "2"}});
  const auto degraded = [&](const std::string& a, const std::string& b) {
    for (std::size_t i = 0; i < topology.links.size(); ++i) {
      TopologyLink& link = topology.links[LinkId(i)];
      const std::string src = topology.nodes[link.src].id, dst = topology.nodes[link.dst].id;
      if ((src == a && dst == b) || (src == b && dst == a)) return &link;
    }
    return static_cast<TopologyLink*>(nullptr);
  };
  TopologyLink* link = degraded("box0/gpu17", "box0/nvsw");
  ASSERT_NE(link, nullptr);
  link->bandwidth = *checked_div(link->bandwidth, Ratio(2));
  const Picture picture = make_picture(topology, all_but_the_first(topology));
  EXPECT_EQ(picture.items.size(), 11U);
  EXPECT_EQ(drawn_with(picture, "box0/gpu17"), 1U);
  EXPECT_EQ(drawn_with(picture, "box0/nic17"), 1U);
  EXPECT_EQ(drawn_with(picture, "rail17"), 1U);
  EXPECT_EQ(drawn_with(picture, "box0/gpu18"), 70U);
}

// Every node and every link, with its bandwidth, is in the picture once.
TEST(Fold, NothingIsLost) {
  struct Fabric {
    std::string name;
    std::map<std::string, std::string> values;
    bool fits = true;  ///< sixteen boxes beside one another do not, however little is in them
  };
  for (const Fabric& fabric :
       {Fabric{"gb200-nvl72", {{"boxes", "2"}}}, Fabric{"fat-tree", {{"ports", "6"}}},
        Fabric{"fat-tree", {{"ports", "8"}}}, Fabric{"dgx-h100", {{"boxes", "5"}}},
        Fabric{"dgx-a100", {{"boxes", "16"}, {"fabric", "odd-even"}}, false}}) {
    const Topology topology = test::generated_topology(fabric.name, fabric.values);
    DrawOptions options = all_but_the_first(topology);
    options.detail = kAll;
    const Picture picture = make_picture(topology, options);
    EXPECT_LT(picture.items.size(), topology.nodes.size()) << topology.name;
    EXPECT_EQ(width_of_rows(picture) <= readable(), fabric.fits) << topology.name;
    std::size_t names = 0, links = 0;
    Ratio there_and_back = 0, expected = 0;
    for (const Item& item : picture.items) names += item.names.size();
    for (const Edge& edge : picture.edges) {
      EXPECT_NE(edge.a, edge.b);
      links += edge.links;
      there_and_back = topology::summed(there_and_back, topology::summed(edge.there, edge.back));
    }
    for (std::size_t i = 0; i < topology.links.size(); ++i) {
      const Ratio& bandwidth = topology.links[LinkId(i)].bandwidth;
      expected = topology::summed(expected, topology::summed(bandwidth, bandwidth));
    }
    EXPECT_EQ(names, topology.nodes.size()) << topology.name;
    EXPECT_EQ(links, topology.links.size()) << topology.name;
    EXPECT_EQ(there_and_back, expected) << topology.name;
  }
}

TEST(Fold, WhatFitsIsDrawnNodeByNode) {
  for (const std::string name : {"dgx-a100-x2", "dgx-a100-x2-degraded", "dgx-1-v100", "mi250-x2",
                                 "torus-4x4", "dragonfly-72", "fat-tree-4", "dgx-a100-x4"}) {
    const Topology topology = parse_valid(read_file(source_path("topologies/" + name + ".json")));
    const Picture picture = make_picture(topology, all_but_the_first(topology));
    EXPECT_EQ(picture.items.size(), topology.nodes.size()) << name;
  }
}

// Forty columns of three in a box below one switch and above another.
std::string columns(const std::string& more) {
  return R"({"format":"forestcoll-topology","version":1,"nodes":[
    {"id":"b/gpu[0-39]","type":"compute","box":"b"},{"id":"b/nic[0-39]","type":"switch","box":"b"},
    {"id":"b/up","type":"switch","box":"b"},{"id":"down","type":"switch"},
    {"id":"far","type":"compute"}],"links":[
    {"src":"b/gpu[0-39]","dst":"b/up","bandwidth":9},
    {"src":"b/gpu[0-39]","dst":"b/nic[0-39]","bandwidth":3,"pair":"zip"},
    {"src":"b/nic[0-39]","dst":"down","bandwidth":4},{"src":"far","dst":"down","bandwidth":5})" +
         more + "]}";
}

TEST(Fold, ColumnsThatCrossStayApart) {
  const auto drawn = [](const std::string& more) {
    return make_picture(parse_valid(columns(more)), {.width = 100});
  };
  EXPECT_EQ(drawn("").items.size(), 5U);
  // gpu3 also reaches nic4: these two columns are one of a kind.
  const Picture crossed = drawn(R"(,{"src":"b/gpu3","dst":"b/nic4","bandwidth":3})");
  EXPECT_EQ(crossed.items.size(), 9U);
  for (const std::string name : {"b/gpu3", "b/gpu4", "b/nic3", "b/nic4"}) {
    EXPECT_EQ(drawn_with(crossed, name), 1U) << name;
  }
  // Two pairs of columns that cross in the same way are alike.
  const Picture pairs = drawn(
      R"(,{"src":"b/gpu3","dst":"b/nic4","bandwidth":3},{"src":"b/gpu8","dst":"b/nic7","bandwidth":3})");
  EXPECT_EQ(drawn_with(pairs, "b/gpu3"), 2U);
  EXPECT_EQ(find(pairs, "b/gpu8"), find(pairs, "b/gpu3"));
  EXPECT_EQ(drawn_with(pairs, "b/nic3"), 2U);
  EXPECT_EQ(drawn_with(pairs, "b/gpu0"), 36U);
}

// GPUs that are linked to each other in a ring, and to a switch: its halves are alike, and yet none
// is folded away.
TEST(Fold, LinksWithinAKindAreKept) {
  std::string links;
  for (int i = 0; i < 60; ++i) {
    links += (i > 0 ? "," : "") + std::string(R"({"src":"b/gpu)") + std::to_string(i) +
             R"(","dst":"b/gpu)" + std::to_string((i + 1) % 60) + R"(","bandwidth":2})";
  }
  const Topology topology = parse_valid(
      R"({"format":"forestcoll-topology","version":1,"nodes":[
        {"id":"b/gpu[0-59]","type":"compute","box":"b"},{"id":"s","type":"switch"}],
        "links":[{"src":"b/gpu[0-59]","dst":"s","bandwidth":1},)" +
      links + "]}");
  EXPECT_EQ(make_picture(topology, {}).items.size(), 61U);
}

// Seventy-two GPUs, each with another bandwidth: no two are alike, and the row is broken.
TEST(Rows, AreBrokenWhereNothingIsAlike) {
  std::string links;
  for (int i = 0; i < 72; ++i) {
    links += (i > 0 ? "," : "") + std::string(R"({"src":"b/gpu)") + std::to_string(i) +
             R"(","dst":"b/sw","bandwidth":)" + std::to_string(100 + i) + "}";
  }
  const Topology topology = parse_valid(
      R"({"format":"forestcoll-topology","version":1,"nodes":[
        {"id":"b/gpu[0-71]","type":"compute","box":"b"},{"id":"b/sw","type":"switch","box":"b"}],
        "links":[)" +
      links + "]}");
  const Picture picture = make_picture(topology, {});
  EXPECT_EQ(picture.items.size(), 73U);
  EXPECT_GT(width_of_rows(picture), readable());
  const auto rows = topology::broken_rows(picture, readable());
  std::map<std::size_t, double> widths;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (picture.items[i].kind == ItemKind::gpu) {
      widths[rows[i]] += size_of(picture.items[i]).width + gap_of(picture);
    }
  }
  EXPECT_GE(widths.size(), 2U);
  for (const auto& [row, width] : widths) EXPECT_LE(width, readable() + 60) << row;
  EXPECT_THAT(topology::broken_rows(picture, kAll), ::testing::Each(0U));
}

double distance(const topology::Spot& a, const topology::Spot& b) {
  return std::hypot(a.x - b.x, a.y - b.y);
}

void expect_nothing_covered(const Picture& picture, const std::vector<topology::Spot>& at) {
  for (std::size_t i = 0; i < picture.items.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const auto a = size_of(picture.items[i]), b = size_of(picture.items[j]);
      EXPECT_TRUE(std::abs(at[i].x - at[j].x) > (a.width + b.width) / 2 ||
                  std::abs(at[i].y - at[j].y) > (a.height + b.height) / 2)
          << picture.items[i].names[0] << " covers " << picture.items[j].names[0];
    }
  }
}

// What limits hold up is no cut, and its links are red all the same: on a grid, too.
TEST(Picture, LinksOfABottleneckThatIsNoCutAreMarked) {
  const Topology topology = parse_valid(read_file(source_path("topologies/l40s-x1.json")));
  DrawOptions options;
  options.marked = {{topology.links[LinkId(0)].src, topology.links[LinkId(0)].dst}};
  EXPECT_EQ(std::ranges::count(make_picture(topology, options).edges, true, &Edge::crosses), 1);
  const Topology torus = parse_valid(read_file(source_path("topologies/torus-4x4.json")));
  const std::string plain = draw(torus).svg;
  options.marked = {{torus.links[LinkId(0)].src, torus.links[LinkId(0)].dst}};
  EXPECT_NE(draw(torus, options).svg, plain);
}

// A server with two sockets: cpu0 once covered cpu1 and the link between them.
TEST(Layers, ALinkAlongARowMayJoinNeighbours) {
  const Topology topology = parse_valid(read_file(source_path("topologies/l40s-x1.json")));
  const Picture picture = make_picture(topology, {});
  ASSERT_TRUE(topology::is_layered(picture));
  const auto layers = topology::place_in_layers(picture, readable());
  expect_nothing_covered(picture, layers.items);
  std::map<std::string, topology::Spot> at;
  for (std::size_t i = 0; i < picture.items.size(); ++i) {
    at[picture.items[i].names[0]] = layers.items[i];
  }
  EXPECT_EQ(at["cpu0"].y, at["cpu1"].y);
  EXPECT_GT(at["cpu0"].y, at["pciesw0"].y);
}

// As of DGX-1, whose GPUs are joined with those next but one.
TEST(Circles, ALinkPassesBesideTheNodeBetweenItsEnds) {
  const Picture picture =
      make_picture(parse_valid(read_file(source_path("topologies/dgx-1-v100.json"))), {});
  const auto at = topology::place_on_circles(picture).items;
  ASSERT_EQ(at.size(), 8U);
  for (std::size_t i = 0; i < 8; ++i) {
    const auto &a = at[i], &b = at[(i + 2) % 8];
    const topology::Spot between{(a.x + b.x) / 2, (a.y + b.y) / 2};
    EXPECT_GT(distance(at[(i + 1) % 8], between), 30) << i;
  }
}

TEST(Circles, ASwitchWithoutGpusHasRoomBesideOneWithMany) {
  const Picture picture = make_picture(parse_valid(R"({
    "format": "forestcoll-topology", "version": 1,
    "nodes": [{ "id": "gpu[0-7]", "type": "compute" }, { "id": "cpu[0-3]", "type": "switch" }],
    "links": [{ "src": "gpu[0-7]", "dst": "cpu0", "bandwidth": 1 },
              { "src": "cpu[0-3]", "dst": "cpu[0-3]", "bandwidth": 1 }] })"),
                                       {});
  ASSERT_FALSE(topology::is_layered(picture));
  expect_nothing_covered(picture, topology::place_on_circles(picture).items);
}

// GPUs stand beside their routers, and nothing covers anything else.
TEST(Circles, GpusStandBesideTheirRouters) {
  const Topology topology = parse_valid(read_file(source_path("topologies/dragonfly-72.json")));
  const Picture picture = make_picture(topology, all_but_the_first(topology));
  const auto circles = topology::place_on_circles(picture);
  ASSERT_EQ(circles.items.size(), picture.items.size());
  ASSERT_EQ(circles.frames.size(), 9U);
  for (const Edge& edge : picture.edges) {
    const bool a_is_gpu = picture.items[edge.a].kind == ItemKind::gpu;
    if (!a_is_gpu && picture.items[edge.b].kind != ItemKind::gpu) continue;
    const std::size_t gpu = a_is_gpu ? edge.a : edge.b, router = a_is_gpu ? edge.b : edge.a;
    for (std::size_t i = 0; i < picture.items.size(); ++i) {
      if (i == router || picture.items[i].kind == ItemKind::gpu) continue;
      EXPECT_LT(distance(circles.items[gpu], circles.items[router]),
                distance(circles.items[gpu], circles.items[i]));
    }
  }
  expect_nothing_covered(picture, circles.items);
  for (const auto& a : circles.frames) {
    EXPECT_LE(std::abs(a.centre.x) + a.radius, 950) << "no wider than 1,600 pixels";
    for (const auto& b : circles.frames) {
      if (a.box == b.box) continue;
      EXPECT_GT(distance(a.centre, b.centre), a.radius + b.radius);
    }
  }
  EXPECT_THAT(draw(topology).svg, AllOf(HasSubstr(">g0</text>"), HasSubstr(">g8</text>")));
}

}  // namespace
}  // namespace forestcoll::testing
