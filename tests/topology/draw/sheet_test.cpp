// Pictures as they are written: nothing covers a text, nothing is missing or shown twice, and grids
// are found whatever their nodes are called.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "forestcoll/convert.hpp"
#include "forestcoll/palette.hpp"
#include "support/svg_picture.hpp"
#include "support/topology_of.hpp"
#include "topology/draw/grid.hpp"
#include "topology/topology_testing.hpp"

namespace forestcoll::testing {
namespace {

using test::generated_topology;
using test::SvgPicture;

using Parameters = std::map<std::string, std::string>;

DrawOptions with_first_as_bottleneck(const Topology& topology) {
  DrawOptions options;
  for (std::size_t i = 0; i < topology.nodes.size(); ++i) {
    if (NodeId(i) != topology.ranks[0]) options.sending.push_back(NodeId(i));
  }
  options.caption = "bottleneck: all data for the first GPU enters through 4 links";
  return options;
}

SvgPicture drawn(const Topology& topology) {
  return test::read_svg(draw(topology, with_first_as_bottleneck(topology)).svg);
}

void expect_readable(const SvgPicture& picture, const std::string& name) {
  EXPECT_THAT(picture.overlaps, IsEmpty()) << name;
  EXPECT_THAT(picture.outside, IsEmpty()) << name;
  EXPECT_THAT(picture.no_dark, IsEmpty()) << name;
  // Shown 1,600 pixels wide, its text has 9 pixels at least.
  EXPECT_LE(picture.width, 2000) << name;
  EXPECT_LE(picture.height, 2000) << name;
}

TEST(Sheet, NothingCoversAText) {
  for (const auto& [generator, parameters] : std::vector<std::pair<std::string, Parameters>>{
           {"torus", {}},
           {"torus", {{"dims", "4x4x4"}}},
           {"torus", {{"dims", "16x16"}}},
           {"torus", {{"dims", "8x8x8"}}},
           {"ring", {}},
           {"hypercube", {{"dimensions", "5"}}},
           {"full-mesh", {}},
           {"kautz", {}},
           {"bcube", {}},
           {"fat-tree", {}},
           {"fat-tree", {{"ports", "6"}}},
           {"dragonfly", {}},
           {"jellyfish", {}},
           {"dgx-1v", {{"boxes", "2"}}},
           {"dgx-a100", {}},
           {"dgx-a100", {{"boxes", "4"}, {"fabric", "odd-even"}}},
           {"dgx-a100", {{"boxes", "128"}, {"fabric", "fat-tree"}}},
           {"dgx-h100", {{"boxes", "4"}, {"fabric", "rail-spine"}}},
           {"dgx-h100", {{"boxes", "40"}, {"fabric", "rail-spine"}}},
           {"mi250", {{"boxes", "2"}}},
           {"gb200-nvl72", {{"boxes", "2"}}}}) {
    const std::string name =
        generator + (parameters.empty() ? "" : " " + parameters.begin()->second);
    expect_readable(drawn(generated_topology(generator, parameters)), name);
  }
}

TEST(Sheet, BundledFabricsAreDrawnWhole) {
  for (const std::string name :
       {"dgx-a100-x2", "dgx-a100-x2-degraded", "dgx-1-v100", "mi250-x1", "mi250-x2", "torus-4x4",
        "dragonfly-72", "fat-tree-4", "hypercube-16", "dgx-a100-x4", "mixed-a100-h100"}) {
    const Topology topology = parse_valid(read_file(source_path("topologies/" + name + ".json")));
    const SvgPicture picture = drawn(topology);
    expect_readable(picture, name);
    std::multiset<std::string> expected;
    for (const TopologyNode& node : topology.nodes) expected.insert(node.id);
    EXPECT_EQ(std::multiset<std::string>(picture.nodes.begin(), picture.nodes.end()), expected)
        << name;
  }
}

// By name and place in the file, nothing is left of the grid but its links.
Topology shuffled(Topology topology, unsigned seed) {
  std::vector<std::size_t> to(topology.nodes.size());
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = i;
  std::mt19937 random(seed);
  for (std::size_t i = to.size(); i > 1; --i) std::swap(to[i - 1], to[random() % i]);
  IdVector<NodeId, TopologyNode> nodes(to.size());
  for (std::size_t i = 0; i < to.size(); ++i) {
    nodes[NodeId(to[i])] = topology.nodes[NodeId(i)];
    nodes[NodeId(to[i])].id = "gpu" + std::to_string(to[i]);
  }
  topology.nodes = std::move(nodes);
  for (TopologyLink& link : topology.links) {
    link.src = NodeId(to[link.src.index()]);
    link.dst = NodeId(to[link.dst.index()]);
    link.kind.clear();
  }
  return topology;
}

// Every link of the fabric leads from a place to the next one, so each has a line.
void expect_grid(const Topology& topology, std::vector<std::size_t> dims, std::size_t missing) {
  const auto grid = topology::find_grid(topology);
  ASSERT_TRUE(grid) << topology.name;
  auto found = grid->dims;
  std::ranges::sort(found);
  std::ranges::sort(dims);
  EXPECT_EQ(found, dims) << topology.name;
  std::set<std::pair<NodeId, NodeId>> links;
  for (const TopologyLink& link : topology.links) links.insert(std::minmax(link.src, link.dst));
  std::size_t absent = 0, present = 0;
  for (std::size_t cell = 0; cell < grid->node_at.size(); ++cell) {
    for (std::size_t d = 0; d < grid->dims.size(); ++d) {
      const auto next = grid->next(cell, d);
      if (!next) continue;
      const auto a = grid->node_at[cell], b = grid->node_at[*next];
      (a && b && links.contains(std::minmax(*a, *b)) ? present : absent) += 1;
    }
  }
  EXPECT_EQ(present, links.size()) << topology.name;
  EXPECT_EQ(absent, missing) << topology.name;
}

TEST(FindGrid, ByLinksAlone) {
  for (const unsigned seed : {1U, 2U, 3U}) {
    expect_grid(shuffled(generated_topology("torus"), seed), {4, 4}, 0);
    expect_grid(shuffled(generated_topology("torus", {{"dims", "5x7"}}), seed), {5, 7}, 0);
    expect_grid(shuffled(generated_topology("torus", {{"dims", "4x4x4"}}), seed), {4, 4, 4}, 0);
    expect_grid(shuffled(generated_topology("torus", {{"dims", "3x5x6"}}), seed), {3, 5, 6}, 0);
    expect_grid(shuffled(generated_topology("torus", {{"dims", "16x16"}}), seed), {16, 16}, 0);
    expect_grid(shuffled(generated_topology("torus", {{"dims", "8x8x8"}}), seed), {8, 8, 8}, 0);
    expect_grid(shuffled(generated_topology("hypercube"), seed), {4, 4}, 0);
    expect_grid(shuffled(generated_topology("ring"), seed), {8}, 0);
  }
}

TEST(FindGrid, OtherFabricsAreNone) {
  for (const std::string name : {"full-mesh", "kautz", "circulant", "dgx-1v", "mi250", "dgx-a100",
                                 "dragonfly", "jellyfish"}) {
    EXPECT_FALSE(topology::find_grid(generated_topology(name))) << name;
  }
  // Named as a grid, and linked as something else.
  Topology torus = generated_topology("torus");
  torus.links[LinkId(std::size_t{0})].dst = NodeId(std::size_t{10});
  EXPECT_FALSE(topology::find_grid(torus));
}

// A link that the file has not, or that is disabled, is dashed, and so is a node.
TEST(FindGrid, ABrokenLinkIsSeen) {
  Topology torus = generated_topology("torus");
  EXPECT_EQ(drawn(torus).broken, 0U);
  torus.links[LinkId(std::size_t{3})].enabled = false;
  // One line within the picture, or two that leave it.
  EXPECT_THAT(drawn(torus).broken, ::testing::AnyOf(1U, 2U));
  EXPECT_THAT(draw(torus).svg, HasSubstr("dashed: disabled or missing (1 link)"));
  for (const unsigned seed : {1U, 2U}) {
    Topology missing = shuffled(generated_topology("torus", {{"dims", "5x6"}}), seed);
    IdVector<LinkId, TopologyLink> links;
    for (std::size_t i = 1; i < missing.links.size(); ++i) {
      links.push_back(missing.links[LinkId(i)]);
    }
    missing.links = links;
    expect_grid(missing, {5, 6}, 1);
  }
  Topology dead = generated_topology("torus");
  dead.nodes[NodeId(std::size_t{5})].enabled = false;
  EXPECT_THAT(draw(dead).svg, HasSubstr("class=\"node gpu broken\""));
  expect_readable(drawn(dead), "a torus without a node");
}

TEST(Sheet, ASchedulesRoundsHaveTheirColours) {
  const Topology torus = generated_topology("torus");
  const TopologyLink& first = torus.links[LinkId(std::size_t{0})];
  DrawOptions options;
  options.hops = {{first.src, first.dst, 0},
                  {first.dst, torus.links[LinkId(std::size_t{1})].dst, 1}};
  options.root = first.src;
  options.title = "a tree";
  const std::string svg = draw(torus, options).svg;
  EXPECT_THAT(svg, HasSubstr(">a tree</text>"));
  EXPECT_THAT(svg, HasSubstr(">round 2</text>"));
  EXPECT_THAT(svg, HasSubstr("<title>round 1: "));
  EXPECT_THAT(svg, HasSubstr(std::string("stroke=\"") + std::string(round_color(0).light)));
  EXPECT_THAT(svg, HasSubstr("stroke-width=\"3\""));
}

// The same kind has the same colour in different fabrics.
TEST(LinkColors, AreThoseOfTheKind) {
  const std::string one =
      draw(generated_topology("dgx-a100", {{"boxes", "2"}, {"fabric", "odd-even"}})).svg;
  const std::string other = draw(generated_topology("dgx-a100")).svg;
  const std::string line = "stroke=\"" + std::string(link_color(1).light) + "\"";
  for (const std::string& svg : {one, other}) {
    const auto key = svg.find(">nvlink ");
    ASSERT_NE(key, std::string::npos);
    EXPECT_THAT(svg.substr(svg.rfind("<line", key), 120), HasSubstr(line));
  }
}

TEST(TextWidth, GrowsWithTheText) {
  EXPECT_EQ(text_width("", 10), 0);
  EXPECT_GT(text_width("mmm", 10), text_width("iii", 10));
  EXPECT_DOUBLE_EQ(text_width("abc", 20), 2 * text_width("abc", 10));
  EXPECT_LT(text_width("ä", 10), 10);  // one character of two bytes
}

}  // namespace
}  // namespace forestcoll::testing
