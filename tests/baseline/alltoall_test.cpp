// Baselines of all-to-all: the orders and relays by hand, and everything that arrives.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "forestcoll/baseline.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/topology.hpp"
#include "solver/alltoall/routes/route_alltoall.hpp"
#include "support/files.hpp"
#include "support/valid.hpp"

namespace forestcoll::testing {
namespace {

struct ParsedFabric {
  Topology topology;
  Network network;
};

ParsedFabric fabric_from(const std::string& text) {
  auto parsed = parse_topology(text, "fabric");
  EXPECT_TRUE(parsed) << to_string(parsed.errors().front());
  auto network = to_digraph(parsed->topology);
  EXPECT_TRUE(network);
  return {parsed->topology, *std::move(network)};
}

// GPUs on one switch, so many to a box.
std::string boxes_on_a_switch(const std::vector<int>& sizes) {
  std::string nodes, links;
  for (std::size_t b = 0; b < sizes.size(); ++b) {
    for (int g = 0; g < sizes[b]; ++g) {
      const std::string id = "b" + std::to_string(b) + "g" + std::to_string(g);
      nodes += "{\"id\": \"" + id + "\", \"type\": \"compute\", \"box\": \"b" + std::to_string(b) +
               "\"}, ";
      links += (links.empty() ? "" : ", ") + ("{\"src\": \"" + id) +
               "\", \"dst\": \"sw\", \"bandwidth\": 10}";
    }
  }
  return R"({"format": "forestcoll-topology", "version": 1, "name": "boxes", "nodes": [)" + nodes +
         R"({"id": "sw", "type": "switch"}], "links": [)" + links + "]}";
}

AlltoallRoutes made(const std::string& name, const ParsedFabric& fabric, std::int64_t k = 1) {
  return test::valid(make_alltoall_baseline(name, fabric.topology, fabric.network,
                                            Demand::uniform(fabric.network.ranks.size()), k,
                                            kMaxAlltoallParts));
}

std::vector<int> stops(const AlltoallPath& path, const Network& network) {
  std::vector<int> ranks;
  for (const NodeId v : path.nodes) {
    if (network.is_compute(v)) ranks.push_back(network.rank_of[v].value);
  }
  return ranks;
}

const AlltoallPath& path_between(const AlltoallRoutes& routes, int src, int dst) {
  const auto at = std::ranges::find_if(routes.paths, [&](const AlltoallPath& path) {
    return path.src.value == src && path.dst.value == dst;
  });
  EXPECT_NE(at, routes.paths.end());
  return *at;
}

// Deltas of 16 groups go 0, 1, 3, 6, 10, 15, 5, 12, 4, 13, 7, 2, 14, 11, 9, 8, as the comment in
// NCCL's init.cc has them; of five, those of eight that there are: 0, 1, 3, 4, 2.
TEST(AlltoallBaselines, NcclGoesThroughGroupsByTriangularNumbers) {
  for (const auto& deltas : {std::vector<int>{0, 1, 3, 6, 10, 15, 5, 12, 4, 13, 7, 2, 14, 11, 9, 8},
                             std::vector<int>{0, 1, 3, 2, 4}}) {
    const auto groups = static_cast<int>(deltas.size());
    const ParsedFabric fabric = fabric_from(boxes_on_a_switch(std::vector<int>(deltas.size(), 2)));
    const AlltoallRoutes routes = made("nccl-pairwise", fabric);
    EXPECT_EQ(routes.rounds, groups);
    for (int turn = 0; turn < groups; ++turn) {
      const int receiver = 2 * ((3 + deltas[static_cast<std::size_t>(turn)]) % groups);
      EXPECT_EQ(path_between(routes, 6 % (2 * groups), receiver + 1).rounds,
                std::vector<std::int32_t>{turn});
    }
  }
}

// Boxes of 16 are two groups of eight each; unequal ones are no groups, and ranks go eight a round.
TEST(AlltoallBaselines, NcclsGroupsHaveEightRanksAtMost) {
  const AlltoallRoutes large = made("nccl-pairwise", fabric_from(boxes_on_a_switch({16, 16})));
  EXPECT_EQ(large.rounds, 4);
  EXPECT_EQ(path_between(large, 0, 7).rounds, std::vector<std::int32_t>{0});
  EXPECT_EQ(path_between(large, 0, 8).rounds, std::vector<std::int32_t>{1});
  const AlltoallRoutes uneven = made("nccl-pairwise", fabric_from(boxes_on_a_switch({8, 5})));
  EXPECT_EQ(uneven.rounds, 2);
  std::map<std::pair<int, int>, int> sent;
  for (const AlltoallPath& path : uneven.paths) ++sent[{path.src.value, path.rounds[0]}];
  for (const auto& [who, count] : sent) EXPECT_LE(count, 8);
}

TEST(AlltoallBaselines, PxnRelaysOnTheReceiversRail) {
  const ParsedFabric fabric = fabric_from(boxes_on_a_switch({4, 4, 4}));
  const AlltoallRoutes routes = made("nccl-pxn", fabric);
  EXPECT_EQ(stops(path_between(routes, 1, 7), fabric.network), (std::vector<int>{1, 3, 7}));
  EXPECT_EQ(stops(path_between(routes, 3, 7), fabric.network), (std::vector<int>{3, 7}));
  EXPECT_EQ(stops(path_between(routes, 1, 2), fabric.network), (std::vector<int>{1, 2}));
  // What all of a box have for a GPU leaves the relay in one round, over the same links.
  std::set<std::vector<std::int32_t>> last;
  for (const int src : {0, 1, 2, 3}) last.insert({path_between(routes, src, 7).rounds.back()});
  EXPECT_EQ(last.size(), 1U);
}

TEST(AlltoallBaselines, TwoLevelsGoThroughTheBoxFirst) {
  const ParsedFabric fabric = fabric_from(boxes_on_a_switch({4, 4, 4}));
  const AlltoallRoutes routes = made("hierarchical", fabric);
  EXPECT_EQ(routes.rounds, 3 + 2);
  for (const AlltoallPath& path : routes.paths) {
    const auto ranks = stops(path, fabric.network);
    for (std::size_t leg = 0; leg + 1 < ranks.size(); ++leg) {
      const bool is_inside = ranks[leg] / 4 == ranks[leg + 1] / 4;
      EXPECT_EQ(path.rounds[leg] < 3, is_inside);
      if (!is_inside) {
        EXPECT_EQ(ranks[leg] % 4, ranks[leg + 1] % 4);
      }
    }
  }
}

TEST(AlltoallBaselines, BruckTakesTheBitsOfTheDistance) {
  const ParsedFabric fabric = fabric_from(boxes_on_a_switch({11}));
  const AlltoallRoutes routes = made("bruck", fabric);
  EXPECT_EQ(routes.rounds, 4);
  for (const AlltoallPath& path : routes.paths) {
    const int left = (path.dst.value - path.src.value + 11) % 11;
    EXPECT_EQ(std::ssize(path.rounds), std::popcount(static_cast<unsigned>(left)));
    const auto ranks = stops(path, fabric.network);
    for (std::size_t leg = 0; leg + 1 < ranks.size(); ++leg) {
      EXPECT_EQ((ranks[leg] + (1 << path.rounds[leg])) % 11, ranks[leg + 1]);
    }
  }
}

// Down a tree from the root, and up: in round i of a scatter a rank passes on half of what it has;
// of a gather, all that it has got, in the reverse order.
TEST(AlltoallBaselines, BinomialTreesTakeTheBitsOfThePlace) {
  const ParsedFabric fabric = fabric_from(boxes_on_a_switch({11}));
  for (const bool gathers : {false, true}) {
    const Demand demand = gathers ? Demand::to(11, Rank(4)) : Demand::from(11, Rank(4));
    const auto routes = make_alltoall_baseline("binomial", fabric.topology, fabric.network, demand,
                                               1, kMaxAlltoallParts);
    ASSERT_TRUE(routes);
    EXPECT_EQ(routes->rounds, 4);
    EXPECT_EQ(routes->paths.size(), 10U);
    std::map<int, int> messages;  // of ranks that end a hop, each from one other
    for (const AlltoallPath& path : routes->paths) {
      const auto ranks = stops(path, fabric.network);
      const int leaf = (gathers ? ranks.front() : ranks.back()) - 4;
      const auto place = static_cast<unsigned>((leaf + 11) % 11);
      EXPECT_EQ(std::ssize(path.rounds), std::popcount(place));
      EXPECT_TRUE(std::ranges::is_sorted(path.rounds));
      for (std::size_t leg = 0; leg + 1 < ranks.size(); ++leg) {
        const int bit = gathers ? path.rounds[leg] : 3 - path.rounds[leg];
        const int near = ranks[gathers ? leg + 1 : leg], far = ranks[gathers ? leg : leg + 1];
        EXPECT_EQ((near + (1 << bit)) % 11, far);
        const auto [at, is_new] = messages.emplace(far, near);
        EXPECT_EQ(at->second, near);
      }
    }
    EXPECT_EQ(messages.size(), 10U);
  }
}

// Where no switches join two GPUs, those between relay, in rounds that follow one another.
TEST(AlltoallBaselines, RelayOnDirectFabrics) {
  const ParsedFabric fabric = fabric_from(test::bundled_text("torus-4x4"));
  for (const BaselineInfo& info : alltoall_baselines()) {
    if (!supports(info, Collective::alltoall)) continue;
    const AlltoallRoutes routes = made(std::string(info.name), fabric);
    EXPECT_EQ(routes.paths.size(), 240U);
    for (const AlltoallPath& path : routes.paths) {
      if (info.name == "direct") {
        EXPECT_TRUE(path.rounds.empty());
        continue;
      }
      EXPECT_EQ(path.rounds.size() + 1, stops(path, fabric.network).size());
      EXPECT_TRUE(std::ranges::is_sorted(path.rounds));
    }
    const auto complete = complete_routes(fabric.network, Demand::uniform(16), routes);
    ASSERT_TRUE(complete);
    EXPECT_LE(complete->rate, Ratio(1, 8)) << info.name;
    EXPECT_LE(complete->rate_in_rounds, complete->rate) << info.name;
  }
}

// In parts of a pair that take the same nodes are one path.
TEST(AlltoallBaselines, AllPartsAreRouted) {
  const ParsedFabric fabric = fabric_from(test::bundled_text("fat-tree-4"));
  const AlltoallRoutes routes = made("direct", fabric, 4);
  std::map<std::pair<int, int>, std::int64_t> parts;
  std::set<std::vector<NodeId>> ways;
  for (const AlltoallPath& path : routes.paths) {
    parts[{path.src.value, path.dst.value}] += path.parts;
    EXPECT_TRUE(ways.insert(path.nodes).second);
  }
  EXPECT_EQ(parts.size(), 240U);
  for (const auto& each : parts) EXPECT_EQ(each.second, 4);
}

// As a network that routes over equal ways: the four cores carry about as much.
TEST(AlltoallBaselines, PairsSpreadOverEqualWays) {
  const ParsedFabric fabric = fabric_from(test::bundled_text("fat-tree-4"));
  std::map<NodeId, int> through;
  for (const AlltoallPath& path : made("direct", fabric).paths) {
    if (path.nodes.size() == 7) ++through[path.nodes[3]];
  }
  EXPECT_EQ(through.size(), 4U);
  for (const auto& each : through) EXPECT_EQ(each.second, 192 / 4);
}

TEST(AlltoallBaselines, PairsWithNothingToSendHaveNoPath) {
  const ParsedFabric fabric = fabric_from(boxes_on_a_switch({2, 1}));
  const auto demand = Demand::matrix(3, {0, 5, 0, 0, 0, 0, 7, 0, 0});
  const auto routes = make_alltoall_baseline("bruck", fabric.topology, fabric.network, demand, 1,
                                             kMaxAlltoallParts);
  ASSERT_TRUE(routes);
  EXPECT_EQ(routes->paths.size(), 2U);
}

TEST(AlltoallBaselines, RefuseInWords) {
  const ParsedFabric uneven = fabric_from(boxes_on_a_switch({2, 1}));
  const auto code = [&](const std::string& name, std::int64_t k, std::int64_t most) {
    const auto routes =
        make_alltoall_baseline(name, uneven.topology, uneven.network, Demand::uniform(3), k, most);
    return routes ? std::nullopt : routes.errors().front().code;
  };
  EXPECT_EQ(code("hierarchical", 1, kMaxAlltoallParts), Code::B02);
  EXPECT_EQ(code("nvls", 1, kMaxAlltoallParts), Code::B06);
  EXPECT_EQ(code("binomial", 1, kMaxAlltoallParts), Code::B06);
  EXPECT_EQ(code("magic", 1, kMaxAlltoallParts), Code::B09);
  EXPECT_EQ(code("direct", 2, 11), Code::B04);
  EXPECT_EQ(code("direct", 2, 12), std::nullopt);
}

}  // namespace
}  // namespace forestcoll::testing
