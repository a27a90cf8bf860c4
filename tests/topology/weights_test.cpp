// Weights of the file as integers, and what they may be.
#include "forestcoll/network.hpp"
#include "support/valid.hpp"
#include "topology/topology_testing.hpp"

namespace forestcoll::testing {
namespace {

// A ring of one GPU per weight.
Topology ring(const std::vector<std::string>& weights) {
  std::string nodes, links;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    nodes += (i > 0 ? "," : "") + std::string(R"({"id":"g)") + std::to_string(i) +
             R"(","type":"compute","weight":)" + weights[i] + "}";
    links += (i > 0 ? "," : "") + std::string(R"({"src":"g)") + std::to_string(i) +
             R"(","dst":"g)" + std::to_string((i + 1) % weights.size()) + R"(","bandwidth":10})";
  }
  return parse_valid(flat_file(nodes, links));
}

std::vector<std::int64_t> weights_of(const std::vector<std::string>& weights) {
  const auto network = test::valid(to_digraph(ring(weights)));
  return {network.weight.begin(), network.weight.end()};
}

TEST(Weights, AreLowestIntegers) {
  EXPECT_THAT(weights_of({"1", "2", "3"}), ElementsAre(1, 2, 3));
  EXPECT_THAT(weights_of({"\"1/2\"", "\"1/3\"", "1"}), ElementsAre(3, 2, 6));
  EXPECT_THAT(weights_of({"10", "0", "20"}), ElementsAre(1, 0, 2));
  EXPECT_THAT(weights_of({"0.5", "0", "0"}), ElementsAre(1, 0, 0));
}

TEST(Weights, AreLeftOutWhereAllAreAlike) {
  EXPECT_TRUE(weights_of({"1", "1", "1"}).empty());
  EXPECT_TRUE(weights_of({"7", "7", "7"}).empty());
  EXPECT_TRUE(weights_of({"\"1/3\"", "\"1/3\"", "\"1/3\""}).empty());
}

TEST(Weights, FollowTheRankOrderAndTheReversedNetwork) {
  Topology topology = ring({"1", "2", "3"});
  std::reverse(topology.ranks.begin(), topology.ranks.end());
  const auto network = to_digraph(topology);
  ASSERT_TRUE(network);
  EXPECT_EQ(network->weight[Rank(0)], 3);
  EXPECT_EQ(reversed(*network).weight, network->weight);
}

TEST(Weights, OfDisabledNodesDoNotCount) {
  Topology topology = ring({"1", "1", "2", "1"});
  topology.nodes[NodeId(2)].enabled = false;
  std::erase(topology.ranks, NodeId(2));
  EXPECT_TRUE(to_digraph(topology)->weight.empty());
}

TEST(Weights, SomebodyMustOwnSomething) {
  const auto network = to_digraph(ring({"0", "0"}));
  ASSERT_TRUE(network);
  const auto refused = refuse_without_owner(*network, Collective::allgather);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.errors().front().code, Code::E05);
  EXPECT_THAT(refused.errors().front().message, HasSubstr("every compute node has weight 0"));
  EXPECT_TRUE(refuse_without_owner(*network, Collective::broadcast));
}

TEST(Weights, ThatAreTooFineOrTooLargeTogetherAreRefused) {
  for (const auto& weights :
       std::vector<std::vector<std::string>>{{"\"1/2000003\"", "\"1/2000029\"", "1"},
                                             {"1", "2000000000001", "3"},
                                             {"1", "9000000000000000000", "\"1/7\""}}) {
    const auto network = to_digraph(ring(weights));
    ASSERT_FALSE(network);
    EXPECT_EQ(network.errors().front().code, Code::E14);
    EXPECT_EQ(network.errors().front().kind, ErrorKind::limit);
    EXPECT_THAT(network.errors().front().message, HasSubstr("weights are too large or too fine"));
  }
}

// The solver multiplies capacities and weights.
TEST(Weights, AndCapacitiesMustFitTogether) {
  Topology topology = ring({"1", "500000000000", "1"});
  EXPECT_TRUE(to_digraph(topology));
  topology.links[LinkId(0)].bandwidth = Ratio(10'000'001);
  const auto network = to_digraph(topology);
  ASSERT_FALSE(network);
  EXPECT_EQ(network.errors().front().code, Code::E14);
}

}  // namespace
}  // namespace forestcoll::testing
