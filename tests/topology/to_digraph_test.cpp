#include <numeric>
#include <random>

#include "forestcoll/network.hpp"
#include "topology_testing.hpp"

namespace forestcoll {
namespace {

using ::testing::ElementsAre;
using testing::flat_file;
using testing::parse_valid;

const std::string kNodes = R"({"id":"gpu[0-1]","type":"compute"},{"id":"sw","type":"switch"})";

Network network_of(const std::string& nodes, const std::string& links) {
  auto network = to_digraph(parse_valid(flat_file(nodes, links)));
  EXPECT_TRUE(network);
  return network ? *network : Network();
}

std::vector<std::string> arcs(const Network& network) {
  std::vector<std::string> list;
  for (std::size_t i = 0; i < network.graph.arc_count(); ++i) {
    const ArcId a(i);
    list.push_back(std::to_string(network.graph.tail(a).value) + ">" +
                   std::to_string(network.graph.head(a).value) + " " +
                   std::to_string(network.capacity[a]));
  }
  return list;
}

TEST(ToDigraph, ParallelLinksAreSummedAndUnitsAreLeast) {
  const Network network =
      network_of(kNodes, R"({"src":"gpu[0-1]","dst":"sw","bandwidth":25},)"
                         R"({"src":"gpu0","dst":"sw","bandwidth":12.5},)"
                         R"({"src":"gpu0","dst":"gpu1","bandwidth":50,"duplex":"simplex"})");
  EXPECT_EQ(network.unit, Ratio(25, 2));
  EXPECT_THAT(arcs(network), ElementsAre("0>1 4", "0>2 3", "1>2 2", "2>0 3", "2>1 2"));
  EXPECT_THAT(network.ranks, ElementsAre(NodeId(0), NodeId(1)));
  EXPECT_EQ(network.rank_of[NodeId(1)], Rank(1));
  EXPECT_FALSE(network.is_compute(NodeId(2)));
}

TEST(ToDigraph, IsSymmetricWhereEveryArcHasAnEqualOneBack) {
  const std::string there = R"({"src":"gpu0","dst":"gpu1","bandwidth":2,"duplex":"simplex"})";
  const std::string both = R"({"src":"gpu[0-1]","dst":"sw","bandwidth":1})";
  const auto back = [](int bandwidth) {
    return R"({"src":"gpu1","dst":"gpu0","duplex":"simplex","bandwidth":)" +
           std::to_string(bandwidth) + "}";
  };
  EXPECT_TRUE(is_symmetric(network_of(kNodes, both)));
  EXPECT_FALSE(is_symmetric(network_of(kNodes, both + "," + there)));
  EXPECT_FALSE(is_symmetric(network_of(kNodes, both + "," + there + "," + back(3))));
  EXPECT_TRUE(is_symmetric(network_of(kNodes, both + "," + there + "," + back(2))));
}

TEST(ToDigraph, FractionsMeetInOneUnit) {
  const Network network = network_of(kNodes, R"({"src":"gpu0","dst":"sw","bandwidth":"1000/3"},)"
                                             R"({"src":"gpu1","dst":"sw","bandwidth":370.8})");
  EXPECT_EQ(network.unit, Ratio(2, 15));
  EXPECT_THAT(arcs(network), ElementsAre("0>2 2500", "1>2 2781", "2>0 2500", "2>1 2781"));
}

TEST(ToDigraph, DisabledPartsAreLeftOut) {
  const Network network =
      network_of(kNodes + R"(,{"id":"gpu2","type":"compute","enabled":false})",
                 R"({"src":"gpu[0-2]","dst":"sw","bandwidth":10},)"
                 R"({"src":"gpu0","dst":"gpu1","bandwidth":7,"enabled":false})");
  EXPECT_THAT(arcs(network), ElementsAre("0>2 1", "1>2 1", "2>0 1", "2>1 1"));
  EXPECT_EQ(network.graph.node_count(), 4U);
  EXPECT_FALSE(network.is_compute(NodeId(3)));
}

TEST(ToDigraph, RanksFollowTheRankOrder) {
  const auto network = to_digraph(parse_valid(flat_file(
      kNodes, R"({"src":"gpu[0-1]","dst":"sw","bandwidth":10})", R"(,"rank_order":["gpu[1,0]"])")));
  ASSERT_TRUE(network);
  EXPECT_THAT(network->ranks, ElementsAre(NodeId(1), NodeId(0)));
  EXPECT_EQ(network->rank_of[NodeId(0)], Rank(1));
}

TEST(ToDigraph, ReversedTurnsEveryArcAndBackAgain) {
  const Network network =
      network_of(kNodes, R"({"src":"gpu0","dst":"sw","bandwidth":10},)"
                         R"({"src":"gpu1","dst":"sw","bandwidth":20},)"
                         R"({"src":"gpu0","dst":"gpu1","bandwidth":30,"duplex":"simplex"})");
  const Network turned = reversed(network);
  EXPECT_THAT(arcs(turned), ElementsAre("0>2 1", "1>0 3", "1>2 2", "2>0 1", "2>1 2"));
  EXPECT_EQ(turned.unit, network.unit);
  EXPECT_EQ(turned.ranks, network.ranks);
  EXPECT_EQ(arcs(reversed(turned)), arcs(network));
}

TEST(ToDigraph, TheBoundIsExact) {
  // Four arcs of c and two ranks: 8 c < 2^62.
  const auto result = [](const std::string& bandwidth) {
    return to_digraph(parse_valid(
        flat_file(kNodes, R"({"src":"gpu[0-1]","dst":"sw","bandwidth":)" + bandwidth + "}")));
  };
  EXPECT_TRUE(result("576460752303423487"));
  EXPECT_FALSE(result("576460752303423488"));
  EXPECT_TRUE(result("\"1/2305843009213693951\""));
  const auto too_fine = result("\"1/2305843009213693952\"");
  ASSERT_FALSE(too_fine);
  EXPECT_EQ(too_fine.errors()[0].code, Code::E14);
  EXPECT_EQ(too_fine.errors()[0].kind, ErrorKind::limit);
  EXPECT_THAT(too_fine.errors()[0].remedy, ::testing::HasSubstr("`quantize="));
}

TEST(ToDigraph, TheSuggestedStepHelps) {
  const std::string text =
      flat_file(kNodes, R"({"src":"gpu0","dst":"sw","bandwidth":123456789012345678},)"
                        R"({"src":"gpu1","dst":"sw","bandwidth":"1/999999937"},)"
                        R"({"src":"gpu0","dst":"gpu1","bandwidth":"1/999999893"})");
  const auto refused = to_digraph(parse_valid(text));
  ASSERT_FALSE(refused);
  const std::string remedy = refused.errors()[0].remedy;
  const std::size_t begin = remedy.find("`quantize=") + 10;
  TopologyOptions options;
  options.quantize = parse_ratio(remedy.substr(begin, remedy.find('`', begin) - begin));
  ASSERT_TRUE(options.quantize) << remedy;
  EXPECT_TRUE(to_digraph(parse_valid(text, options))) << remedy;
}

TEST(ToDigraph, CapacitiesAreTheBandwidthsOnRandomFabrics) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Topology topology;
    const std::size_t n = 2 + random() % 6;
    for (std::size_t i = 0; i < n; ++i) {
      TopologyNode node;
      node.id = "n" + std::to_string(i);
      topology.nodes.push_back(node);
      topology.ranks.push_back(NodeId(i));
    }
    std::vector<std::vector<Ratio>> sum(n, std::vector<Ratio>(n));
    for (std::size_t l = 0; l < 3 * n; ++l) {
      const std::size_t a = random() % n;
      const std::size_t b = (a + 1 + random() % (n - 1)) % n;
      TopologyLink link;
      link.src = NodeId(a);
      link.dst = NodeId(b);
      link.bandwidth = Ratio(static_cast<std::int64_t>(1 + random() % 500),
                             static_cast<std::int64_t>(1 + random() % 12));
      link.full_duplex = random() % 2 == 0;
      sum[a][b] = sum[a][b] + link.bandwidth;
      if (link.full_duplex) sum[b][a] = sum[b][a] + link.bandwidth;
      topology.links.push_back(link);
    }
    const auto network = to_digraph(topology);
    ASSERT_TRUE(network);
    Capacity divisor = 0;
    for (std::size_t i = 0; i < network->graph.arc_count(); ++i) {
      const ArcId a(i);
      divisor = std::gcd(divisor, network->capacity[a]);
      Ratio& expected = sum[network->graph.tail(a).index()][network->graph.head(a).index()];
      ASSERT_EQ(network->unit * Ratio(network->capacity[a]), expected);
      expected = 0;
    }
    ASSERT_EQ(divisor, 1);
    for (const auto& row : sum) {
      for (const Ratio& left : row) ASSERT_EQ(left, Ratio(0));
    }
  }
}

}  // namespace
}  // namespace forestcoll
