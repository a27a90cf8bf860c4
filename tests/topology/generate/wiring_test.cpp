// Wirings: every construction is what its definition says, and expressions make them larger.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "forestcoll/generate.hpp"
#include "support/valid.hpp"
#include "topology/topology_testing.hpp"
#include "topology/wiring/base_graphs.hpp"
#include "topology/wiring/expression.hpp"

namespace forestcoll::testing {
namespace {

Wiring wire(const std::string& expression) {
  return test::valid(make_wiring(expression));
}

using Distances = std::vector<std::vector<int>>;

std::vector<std::vector<std::size_t>> successors(const Wiring& wiring) {
  std::vector<std::vector<std::size_t>> next(wiring.nodes);
  for (const Arc& link : wiring.links) next[link.tail.index()].push_back(link.head.index());
  return next;
}

// By definition: one search for every node.
Distances distances_of(const Wiring& wiring) {
  const auto next = successors(wiring);
  Distances distances;
  for (std::size_t root = 0; root < wiring.nodes; ++root) {
    std::vector<int> distance(wiring.nodes, -1);
    std::vector<std::size_t> queue = {root};
    distance[root] = 0;
    for (std::size_t at = 0; at < queue.size(); ++at) {
      for (const std::size_t v : next[queue[at]]) {
        if (distance[v] >= 0) continue;
        distance[v] = distance[queue[at]] + 1;
        queue.push_back(v);
      }
    }
    EXPECT_EQ(queue.size(), wiring.nodes) << wiring.name;
    distances.push_back(std::move(distance));
  }
  return distances;
}

int diameter_of(const Wiring& wiring) {
  int most = 0;
  for (const auto& row : distances_of(wiring))
    most = std::max(most, *std::ranges::max_element(row));
  return most;
}

struct Shape {
  const char* expression;
  std::size_t nodes, ports;
  int diameter;
};

TEST(Wiring, ConstructionsHaveTheirNodesPortsAndDiameter) {
  const Shape shapes[] = {{"complete(5)", 5, 4, 1},
                          {"bipartite(3)", 6, 3, 2},
                          {"hamming(2,3)", 9, 4, 2},
                          {"hypercube(4)", 16, 4, 4},
                          {"ring(9)", 9, 2, 4},
                          {"biring(4,8)", 8, 4, 4},
                          {"uniring(3,5)", 5, 3, 4},
                          {"torus(4,5)", 20, 4, 4},
                          {"torus(4,2)", 8, 3, 3},
                          {"twisted(8,4)", 32, 4, 4},
                          {"kautz(2,3)", 12, 2, 3},
                          {"genkautz(4,20)", 20, 4, 2},
                          {"genkautz-joined(2,8)", 8, 2, 3},
                          {"debruijn(2,4)", 16, 2, 4},
                          {"circulant(16,3,4)", 16, 4, 3},
                          {"circulant(8,1,4)", 8, 3, 2},
                          {"dicirculant(5,1,2,3)", 5, 3, 2},
                          {"diamond", 8, 2, 3},
                          {"diamond(2)", 8, 2, 3},
                          {"L(complete(3))", 6, 2, 2},
                          {"L2(diamond)", 32, 2, 5},
                          {"diamond*3", 24, 6, 4},
                          {"ring(5)^2", 25, 4, 4},
                          {"ring(4) x complete(3)", 12, 4, 3},
                          {"(uniring(1,4) x uniring(1,8))^2", 1024, 4, 20}};
  for (const Shape& shape : shapes) {
    const Wiring wiring = wire(shape.expression);
    EXPECT_EQ(wiring.name, shape.expression);
    EXPECT_EQ(wiring.nodes, shape.nodes) << shape.expression;
    EXPECT_EQ(wiring.ports, shape.ports) << shape.expression;
    EXPECT_TRUE(is_regular(wiring)) << shape.expression;
    if (shape.nodes > 100) continue;
    EXPECT_EQ(diameter_of(wiring), shape.diameter) << shape.expression;
  }
}

// How many ordered pairs of different nodes are how far apart.
std::map<int, int> profile_of(const Wiring& wiring) {
  std::map<int, int> pairs;
  const Distances distances = distances_of(wiring);
  for (std::size_t u = 0; u < wiring.nodes; ++u) {
    for (std::size_t v = 0; v < wiring.nodes; ++v) pairs[distances[u][v]] += u == v ? 0 : 1;
  }
  std::erase_if(pairs, [](const auto& of) { return of.second == 0; });
  return pairs;
}

const char* const kFactors[] = {"complete(4)",       "ring(5)", "uniring(2,4)",
                                "genkautz(2,7)",     "diamond", "debruijn(2,3)",
                                "dicirculant(7,1,3)"};

// From a link to another: one step, and those from the end of the one to the beginning of the
// other.
TEST(Wiring, LineDigraphsHaveTheDistancesOfLinks) {
  for (const std::string factor : kFactors) {
    const Wiring wiring = wire(factor);
    const Distances distances = distances_of(wiring);
    std::map<int, int> expected;
    for (std::size_t i = 0; i < wiring.links.size(); ++i) {
      for (std::size_t j = 0; j < wiring.links.size(); ++j) {
        if (i == j) continue;
        ++expected[1 + distances[wiring.links[i].head.index()][wiring.links[j].tail.index()]];
      }
    }
    EXPECT_EQ(profile_of(wire("L(" + factor + ")")), expected) << factor;
    EXPECT_EQ(wire("L2(" + factor + ")").links, wire("L(L(" + factor + "))").links) << factor;
  }
}

// Copies of different nodes are as far apart as these, copies of one as its shortest cycle is long.
TEST(Wiring, DegreeExpansionsHaveTheDistancesOfTheirNodes) {
  constexpr int kTimes = 3;
  for (const std::string factor : kFactors) {
    const Wiring wiring = wire(factor);
    const Distances distances = distances_of(wiring);
    std::map<int, int> expected;
    for (std::size_t u = 0; u < wiring.nodes; ++u) {
      int cycle = static_cast<int>(wiring.nodes);
      for (const Arc& link : wiring.links) {
        if (link.tail.index() == u) cycle = std::min(cycle, 1 + distances[link.head.index()][u]);
      }
      expected[cycle] += kTimes * (kTimes - 1);
      for (std::size_t v = 0; v < wiring.nodes; ++v) {
        if (u != v) expected[distances[u][v]] += kTimes * kTimes;
      }
    }
    const Wiring expansion = wire(factor + "*3");
    EXPECT_EQ(profile_of(expansion), expected) << factor;
    EXPECT_EQ(expansion.links.size(), wiring.links.size() * kTimes * kTimes) << factor;
  }
}

// The distances of both parts add up.
TEST(Wiring, ProductsHaveTheDistancesOfBothParts) {
  for (const std::string one : kFactors) {
    for (const std::string other : {"uniring(1,3)", "genkautz(2,5)"}) {
      std::map<int, int> expected;
      const Distances of_one = distances_of(wire(one)), of_other = distances_of(wire(other));
      for (const auto& row : of_one) {
        for (const auto& column : of_other) {
          for (const int a : row) {
            for (const int b : column) ++expected[a + b];
          }
        }
      }
      expected.erase(0);
      EXPECT_EQ(profile_of(wire(one + " x " + other)), expected) << one << " x " << other;
    }
    EXPECT_EQ(profile_of(wire(one + "^2")), profile_of(wire(one + " x (" + one + ")"))) << one;
  }
}

// Links of the definition, i → −(d·i + q) mod N for q = 1 … d, but loops.
TEST(Wiring, GeneralizedKautzDigraphsAreByTheirFormula) {
  for (const auto& [ports, nodes] : {std::pair(2, 7), {3, 10}, {4, 64}, {4, 20}}) {
    std::vector<std::pair<int, int>> expected, found;
    for (int i = 0; i < nodes; ++i) {
      for (int q = 1; q <= ports; ++q) {
        const int to = (nodes - (ports * i + q) % nodes) % nodes;
        if (to != i) expected.emplace_back(i, to);
      }
    }
    const auto wiring =
        wire("genkautz(" + std::to_string(ports) + "," + std::to_string(nodes) + ")");
    for (const Arc& link : wiring.links) found.emplace_back(link.tail.value, link.head.value);
    std::ranges::sort(expected);
    EXPECT_EQ(found, expected) << wiring.name;
  }
}

TEST(Wiring, KautzIsTheLineDigraphOfTheCompleteOne) {
  EXPECT_EQ(profile_of(wire("kautz(3,3)")), profile_of(wire("L2(complete(4))")));
}

// The number of neighbours nearer to and farther from a node depends on the distance alone.
TEST(Wiring, DistanceRegularGraphsAreSo) {
  const std::pair<const char*, int> graphs[] = {
      {"complete(5)", 1},           {"distance-regular(6)", 2},  {"bipartite(4)", 2},
      {"hamming(2,3)", 2},          {"distance-regular(10)", 3}, {"distance-regular(14)", 3},
      {"distance-regular(15)", 3},  {"hypercube(4)", 4},         {"distance-regular(21)", 3},
      {"distance-regular(26)", 3},  {"distance-regular(32)", 4}, {"distance-regular(35)", 3},
      {"distance-regular(45)", 4},  {"distance-regular(70)", 7}, {"distance-regular(80)", 4},
      {"distance-regular(189)", 6}, {"distance-regular(728)", 6}};
  for (const auto& [expression, diameter] : graphs) {
    const Wiring wiring = wire(expression);
    EXPECT_EQ(wiring.ports, 4U);
    EXPECT_TRUE(is_regular(wiring) && is_two_way(wiring)) << expression;
    const auto next = successors(wiring);
    std::set<std::tuple<int, int, int>> counts;
    for (const auto& row : distances_of(wiring)) {
      for (std::size_t v = 0; v < wiring.nodes; ++v) {
        int nearer = 0, farther = 0;
        for (const std::size_t w : next[v]) {
          nearer += row[w] < row[v] ? 1 : 0;
          farther += row[w] > row[v] ? 1 : 0;
        }
        counts.insert({row[v], nearer, farther});
      }
    }
    EXPECT_EQ(counts.size(), static_cast<std::size_t>(diameter) + 1) << expression;
  }
}

TEST(Wiring, PortsOfLoopsStayEmptyOrAreJoined) {
  const Wiring kautz = wire("genkautz(4,64)");
  EXPECT_FALSE(is_regular(kautz));
  EXPECT_EQ(kautz.links.size(), 4U * 64 - 4);
  EXPECT_TRUE(is_regular(wire("genkautz-joined(4,64)")));
  // A single loop is put into a link.
  topology::Links links{.nodes = 3, .links = {{0, 1}, {0, 0}, {1, 2}, {2, 0}}};
  topology::join_loops(links);
  EXPECT_EQ(links.links, (std::vector<std::pair<topology::NodeNumber, topology::NodeNumber>>{
                             {0, 1}, {0, 2}, {1, 0}, {2, 0}}));
}

TEST(Wiring, CablesBothWays) {
  EXPECT_TRUE(is_two_way(wire("torus(4,4)")));
  EXPECT_TRUE(is_two_way(wire("random(20,3,1)")));
  EXPECT_FALSE(is_two_way(wire("kautz(2,3)")));
}

// `topo gen` makes files of them that say the same.
TEST(Wiring, FilesHaveEveryLink) {
  for (const std::string expression :
       {"twisted(4,2)", "L2(diamond)", "uniring(3,4)", "biring(4,2)*2", "genkautz(2,7)"}) {
    const auto document = generate(expression, {{"bandwidth", "200 Gb/s"}});
    ASSERT_TRUE(document) << to_string(document.errors().front());
    const Topology topology = parse_valid(to_topology_json(*document));
    std::vector<std::pair<int, int>> links, expected;
    for (const TopologyLink& link : topology.links) {
      EXPECT_EQ(link.bandwidth, Ratio(25) * Ratio(link.count));
      for (std::int64_t i = 0; i < link.count; ++i) {
        links.emplace_back(link.src.value, link.dst.value);
        if (link.full_duplex) links.emplace_back(link.dst.value, link.src.value);
      }
    }
    for (const Arc& link : wire(expression).links) {
      expected.emplace_back(link.tail.value, link.head.value);
    }
    std::ranges::sort(links);
    EXPECT_EQ(links, expected) << expression;
  }
}

TEST(Wiring, ExpressionsAreReadAsWritten) {
  const std::pair<const char*, const char*> texts[] = {
      {"L(L2( diamond ))", "L(L2(diamond))"},
      {"ring(4)x ring(8) x ring(3)", "ring(4) x ring(8) x ring(3)"},
      {"ring(4) x (ring(8) x ring(3))", "ring(4) x (ring(8) x ring(3))"},
      {"(diamond^2)*3", "diamond^2*3"},
      {"(ring(4) x ring(5))^2", "(ring(4) x ring(5))^2"}};
  for (const auto& [text, again] : texts) {
    const auto expression = topology::parse_expression(text);
    ASSERT_TRUE(expression) << text;
    EXPECT_EQ(topology::to_string(*expression), again);
  }
}

TEST(Wiring, WhatCannotBeReadIsRefusedWithItsColumn) {
  const std::tuple<const char*, const char*, const char*> refusals[] = {
      {"L2(diamond^2", "column 13", "expected )"},
      {"", "column 1", "expected a direct-connect topology"},
      {"diamnd^2", "column 1", "expected a direct-connect topology"},
      {"diamond x", "column 10", "expected a direct-connect topology"},
      {"diamond^0", "column 9", "a power from 1"},
      {"ring(4,)", "column 8", "a whole number"},
      {"ring(4) ring(4)", "column 9", "the end of the expression"},
      {"ring(99999999999)", "column 6", "a whole number"},
      {"L99(ring(4))", "column 2", "a number from 1 to 64"}};
  for (const auto& [text, where, message] : refusals) {
    const auto wiring = make_wiring(text);
    ASSERT_FALSE(wiring) << text;
    const Diagnostic& error = wiring.errors().front();
    EXPECT_EQ(error.code, Code::G04);
    EXPECT_EQ(error.where, where) << text;
    EXPECT_THAT(error.message, HasSubstr(message)) << text;
    EXPECT_FALSE(error.remedy.empty());
  }
  EXPECT_THAT(make_wiring("diamnd").errors().front().remedy, HasSubstr("diamond"));
  EXPECT_EQ(make_wiring(std::string(100, '(') + "diamond").errors().front().code, Code::G04);
}

TEST(Wiring, WhatCannotBeIsRefusedInWords) {
  const std::pair<const char*, const char*> refusals[] = {
      {"kautz(2)", "kautz(2): 1 numbers"},
      {"diamond(3)", "no number 3"},
      {"diamond(1,2)", "2 numbers"},
      {"complete(1)", "fewer than two"},
      {"bipartite(0)", "a side without nodes"},
      {"complete(2000)", "more than 1000000 links"},
      {"hypercube(40)", "more than 100000 nodes"},
      {"hamming(2,1)", "fewer than two words"},
      {"ring(1)", "two nodes"},
      {"biring(3,8)", "odd number of ports"},
      {"torus(4,1)", "side of fewer than two"},
      {"twisted(5,4)", "which is odd"},
      {"kautz(0,2)", "below 1"},
      {"debruijn(1,4)", "below 2"},
      {"genkautz(4,4)", "as many ports as nodes"},
      {"circulant(8,2,4)", "share the divisor 2"},
      {"circulant(8,5)", "no offset"},
      {"dicirculant(8,8)", "no offset"},
      {"random(5,3,1)", "cannot have"},
      {"distance-regular(7)", "none of 7"},
      {"complete(3)^40", "complete(3)^40: more than"},
      {"complete(300)*300", "more than"},
      {"L9(complete(9))", "more than"},
      {"ring(400) x ring(400)", "more than 100000 nodes"},
      {"L(ring(1))", "ring(1)"}};
  for (const auto& [text, message] : refusals) {
    const auto wiring = make_wiring(text);
    ASSERT_FALSE(wiring) << text;
    EXPECT_EQ(wiring.errors().front().code, Code::G05) << text;
    EXPECT_THAT(wiring.errors().front().message, HasSubstr(message));
    EXPECT_FALSE(wiring.errors().front().remedy.empty());
  }
  EXPECT_EQ(generate("ring(4)", {{"boxes", "2"}}).errors().front().code, Code::G02);
  EXPECT_EQ(generate("ring(4)", {{"bandwidth", "-1"}}).errors().front().code, Code::G03);
}

}  // namespace
}  // namespace forestcoll::testing
