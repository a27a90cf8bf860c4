// The best rate of an all-to-all: against the program by its definition, closed forms, a study's
// answers, and itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <stop_token>
#include <string>
#include <vector>

#include "forestcoll/alltoall_optimum.hpp"
#include "forestcoll/topology.hpp"
#include "forestcoll/verify.hpp"
#include "solver/joint/joint_jobs.hpp"
#include "solver/joint/joint_oracle.hpp"
#include "support/fabrics.hpp"
#include "support/random_demand.hpp"
#include "support/topology_of.hpp"
#include "support/valid.hpp"

namespace forestcoll::testing {
namespace {

using test::FabricBuilder;
using test::random_fabric;

AlltoallProof proof_of(const Network& network, const Demand& demand,
                       const AlltoallOptions& options = {}) {
  const auto optimum = test::valid(alltoall_optimum(network, demand, options));
  EXPECT_EQ(find_alltoall_flaw(network, demand, optimum.proof), "");
  return optimum.proof;
}

AlltoallProof proof_of(const Network& network, const AlltoallOptions& options = {}) {
  return proof_of(network, Demand::uniform(network.ranks.size()), options);
}

// The exact rate, as text; an interval where it is none.
std::string rate_of(const Network& network) {
  const AlltoallProof proof = proof_of(network);
  if (proof.is_exact()) return proof.reached.to_string();
  return proof.reached.to_string() + " to " + proof.at_most.to_string();
}

AlltoallOptions first_order(double gap) {
  AlltoallOptions options;
  options.gap = gap;
  options.variables = 0;
  return options;
}

Network random_network(std::uint64_t seed) {
  return test::fabric_of_any_sort(seed, 8);
}

// One commodity for every pair of ranks: no aggregation, no symmetry.
double rate_by_definition(const Network& network, const Demand& demand) {
  std::vector<Rank> all;
  for (std::size_t r = 0; r < network.ranks.size(); ++r) all.emplace_back(r);
  JobOperation operation = test::operation_of(Collective::alltoall, {all});
  operation.demand = demand;
  return test::joint_rate_by_definition(network, {&operation, 1}, true);
}

TEST(AlltoallOptimumLong, IsTheProgramsByDefinition) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Network network = random_network(seed);
    const Demand demand = Demand::uniform(network.ranks.size());
    const AlltoallProof proof = proof_of(network, demand);
    EXPECT_TRUE(proof.is_exact()) << seed;
    const double rate = rate_by_definition(network, demand);
    EXPECT_NEAR(proof.reached.to_double() / rate, 1, 1e-7) << seed;
  }
}

TEST(AlltoallOptimum, IsTheProgramsByDefinitionForAnyDemand) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Network network = random_network(1000 + seed);
    const auto most = std::int64_t{1} << (2 + seed % 12);
    const Demand demand = test::random_demand(network.ranks.size(), most, seed);
    const AlltoallProof proof = proof_of(network, demand);
    EXPECT_TRUE(proof.is_exact()) << seed;
    const double rate = rate_by_definition(network, demand);
    EXPECT_NEAR(proof.reached.to_double() / rate, 1, 1e-7) << seed;
  }
}

TEST(AlltoallOptimum, FirstOrderIntervalsHoldTheRate) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Network network = random_network(2000 + seed);
    const Demand demand = seed % 2 == 0 ? Demand::uniform(network.ranks.size())
                                        : test::random_demand(network.ranks.size(), 1000, seed);
    const AlltoallProof proof = proof_of(network, demand, first_order(0.01));
    const double rate = rate_by_definition(network, demand);
    EXPECT_LE(proof.reached.to_double(), rate * (1 + 1e-7)) << seed;
    EXPECT_GE(proof.at_most.to_double(), rate * (1 - 1e-7)) << seed;
    EXPECT_GE(proof.reached.to_double(), 0.99 * proof.at_most.to_double()) << seed;
  }
}

TEST(AlltoallOptimum, OfBundledFabricsIsTheStudys) {
  const std::vector<std::pair<std::string, std::string>> study = {
      {"dgx-a100-x1", "300/7"},
      {"dgx-a100-x2", "25/8"},
      {"dgx-a100-x4", "25/24"},
      {"dgx-a100-x2-degraded", "375/128"},
      {"mi250-x1", "75/16"},
      {"mi250-x2", "1"},
      {"dgx-1-v100", "75/8"},
      {"dgx-h100-x4-rail", "25/12"},
      {"dgx-h100-x4-rail-2to1", "25/12"},
      {"mixed-a100-h100", "25/24"},
      {"hypercube-16", "1/8"},
      {"torus-4x4", "1/8"},
      {"fat-tree-4", "5/3"},
      {"dragonfly-72", "25/71"},
      {"torus-8x8x8", "1/512"},
  };
  for (const auto& [name, rate] : study)
    EXPECT_EQ(rate_of(test::bundled_network(name)), rate) << name;
}

TEST(AlltoallOptimum, OfToriIsTheirBisections) {
  for (const auto& sides : std::vector<std::vector<std::size_t>>{
           {4}, {6}, {6, 4}, {8, 3}, {4, 4, 4}, {8, 5, 3}, {32, 32}, {16, 16, 4}}) {
    std::int64_t nodes = 1;
    for (const std::size_t side : sides) nodes *= static_cast<std::int64_t>(side);
    const auto longest = static_cast<std::int64_t>(sides.front());
    EXPECT_EQ(rate_of(test::torus(sides)), Ratio(8, longest * nodes).to_string());
  }
}

// Where all ranks see the same numbers of ranks at each distance, shortest paths can be shared out
// evenly: 1/θ = Σ distance / degree.
TEST(AlltoallOptimum, OfDistanceRegularGraphsIsThatOfShortestPaths) {
  EXPECT_EQ(rate_of(test::hypercube(10)), "1/512");
  FabricBuilder petersen(10);
  for (std::size_t i = 0; i < 5; ++i) {
    petersen.link(i, (i + 1) % 5, 1);
    petersen.link(i, 5 + i, 1);
    petersen.link(5 + i, 5 + (i + 2) % 5, 1);
  }
  EXPECT_EQ(rate_of(petersen.build()), "1/5");  // 3 neighbours, 6 at distance 2
}

// Two GPUs of 10 GB/s each share a link of 3 with a third: the link carries two blocks.
TEST(AlltoallOptimum, ACutIsNamed) {
  FabricBuilder b(3, 1);
  b.link(0, 3, 10);
  b.link(1, 3, 10);
  b.link(2, 3, 3);
  const AlltoallProof proof = proof_of(b.build());
  EXPECT_EQ(proof.reached, Ratio(3, 2));
  EXPECT_TRUE(proof.is_exact());
  ASSERT_FALSE(proof.cut.empty());
  std::int64_t crossing = 0;
  for (const std::int64_t length : proof.lengths) crossing += length;
  EXPECT_EQ(crossing, 1);
}

TEST(AlltoallOptimum, TwoRanksHaveTheLesserDirection) {
  FabricBuilder b(2);
  b.arc(0, 1, 5);
  b.arc(1, 0, 3);
  EXPECT_EQ(rate_of(b.build()), "3");
}

TEST(AlltoallOptimum, KeepsCapacitiesThatAreFarApart) {
  FabricBuilder b(3);
  b.link(0, 1, 1);
  b.link(1, 2, (Capacity{1} << 40) + 1);
  EXPECT_EQ(rate_of(b.build()), "1/2");
  FabricBuilder wide(4);
  for (std::size_t i = 0; i < 4; ++i) wide.link(i, (i + 1) % 4, (Capacity{1} << 36) + Capacity(i));
  // Floating point cannot tell these capacities apart; the proofs can.
  const AlltoallProof proof = proof_of(wide.build());
  EXPECT_NEAR(proof.reached.to_double() / proof.at_most.to_double(), 1, 1e-9);
}

TEST(AlltoallOptimum, ScalesWithCapacityAndDemand) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Network network = random_network(3000 + seed);
    const Demand demand = test::random_demand(network.ranks.size(), 50, seed);
    const Ratio rate = proof_of(network, demand).reached;
    network.unit = network.unit * Ratio(7, 3);
    EXPECT_EQ(proof_of(network, demand).reached, rate * Ratio(7, 3)) << seed;
    std::vector<std::int64_t> more;
    for (std::size_t s = 0; s < demand.ranks(); ++s) {
      for (std::size_t t = 0; t < demand.ranks(); ++t)
        more.push_back(35 * demand(Rank(s), Rank(t)));
    }
    EXPECT_EQ(proof_of(network, Demand::matrix(demand.ranks(), more)).reached, rate * Ratio(1, 15))
        << seed;
  }
}

TEST(AlltoallOptimum, DoesNotDependOnNames) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Network network = seed % 4 == 0 ? test::dgx_a100(3) : random_network(4000 + seed);
    const Demand demand = seed % 2 == 0 ? Demand::uniform(network.ranks.size())
                                        : test::random_demand(network.ranks.size(), 9, seed);
    const auto other = test::relabelled(network, demand, seed);
    EXPECT_EQ(proof_of(network, demand).reached, proof_of(other.network, other.demand).reached)
        << seed;
  }
}

// A link to nowhere, and one beside a switch that has more than it needs.
TEST(AlltoallOptimum, UselessLinksChangeNothing) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Network network = random_network(5000 + seed);
    FabricBuilder b(network.ranks.size(), network.graph.node_count() - network.ranks.size());
    for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
      const Arc& arc = network.graph.arcs()[a];
      b.arc(arc.tail.index(), arc.head.index(), network.capacity[ArcId(a)]);
    }
    b.link(0, b.add_switch(), 1);
    Network with_dead_end = b.build();
    with_dead_end.unit = network.unit;
    EXPECT_EQ(proof_of(network).reached, proof_of(with_dead_end).reached) << seed;
  }
}

TEST(AlltoallOptimumLong, OfLargeRegularFabricsIsExact) {
  EXPECT_EQ(rate_of(test::dgx_a100(128)), "25/1016");    // 200 GB/s, 8 · 1,016 blocks
  EXPECT_EQ(rate_of(test::dgx_a100(2048)), "25/16376");  // 16,384 GPUs
  EXPECT_EQ(rate_of(test::h100_rails(128, 2)), "25/768");
  EXPECT_EQ(rate_of(test::mi250(64)), "1/63");  // 256 GB/s, 16 · 1,008 blocks
  EXPECT_EQ(rate_of(test::fat_tree(16)), "1/1023");
  EXPECT_EQ(rate_of(test::torus({128, 128})), "1/262144");
}

// Two boxes of eight: a GPU receives from all others, or sends to all others, and the rest is idle.
TEST(AlltoallOptimum, HotRanksAreLimitedByTheirLinks) {
  const Network network = test::dgx_a100(2);
  const std::size_t n = network.ranks.size();
  std::vector<std::int64_t> receiver(n * n, 0), sender(n * n, 0);
  for (std::size_t r = 1; r < n; ++r) {
    receiver[r * n] = 1;
    sender[r] = 1;
  }
  // 325 GB/s for 15 blocks; the other box's eight come over eight NICs, 200 GB/s.
  EXPECT_EQ(proof_of(network, Demand::matrix(n, receiver)).reached, Ratio(65, 3));
  EXPECT_EQ(proof_of(network, Demand::matrix(n, sender)).reached, Ratio(65, 3));
}

// Bytes of real messages: numbers of many digits, up to all that a demand may have.
TEST(AlltoallOptimum, LargeAmountsKeepTheirDigits) {
  for (const std::int64_t most : {30'000'000LL, 1'000'000'000LL, 4'000'000'000LL}) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      const Network network = seed % 2 == 0 ? test::torus({4, 4}) : random_network(seed);
      const std::size_t ranks = network.ranks.size();
      std::mt19937_64 random(seed);
      std::vector<std::int64_t> amounts;
      for (std::size_t i = 0; i < ranks * ranks; ++i) {
        amounts.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most)));
      }
      const auto proof = proof_of(network, Demand::matrix(ranks, std::move(amounts)));
      ASSERT_GT(proof.reached, Ratio(0)) << most << " " << seed;
      EXPECT_LT(proof.at_most.to_double() / proof.reached.to_double(), 1.011)
          << most << " " << seed;
    }
  }
}

TEST(AlltoallOptimum, NothingToSendIsAnError) {
  const Network network = test::dgx_a100(1);
  std::vector<std::int64_t> own(64, 0);
  for (std::size_t r = 0; r < 8; ++r) own[9 * r] = 5;
  const auto optimum = alltoall_optimum(network, Demand::matrix(8, own));
  ASSERT_FALSE(optimum);
  EXPECT_EQ(optimum.errors().front().code, Code::A02);
  EXPECT_FALSE(optimum.errors().front().remedy.empty());
}

TEST(AlltoallOptimumLong, IrregularFabricsHaveANarrowInterval) {
  const auto gap = [](const AlltoallProof& proof) {
    return 1 - proof.reached.to_double() / proof.at_most.to_double();
  };
  AlltoallOptions options;
  options.gap = 0.002;
  EXPECT_LE(gap(proof_of(test::random_regular(128, 8, 5), options)), 0.002);
  EXPECT_LE(gap(proof_of(test::jellyfish(32, 8, 6, 5), options)), 0.002);
  EXPECT_LE(gap(proof_of(test::generalized_kautz(100, 4), options)), 0.002);
}

// On clusters, cuts around boxes and trees of cheapest paths are within some percent at once.
TEST(AlltoallOptimum, SkewedClustersNeedNoIterations) {
  const Network network = test::dgx_a100(12);
  std::vector<std::int64_t> amounts;
  for (std::int64_t s = 0; s < 96; ++s) {
    for (std::int64_t t = 0; t < 96; ++t) {
      amounts.push_back(s == t ? 0 : (100'000 + 7919 * (s * t % 97)) / (1 + t * 37 % 96));
    }
  }
  const Demand demand = Demand::matrix(96, amounts);
  const AlltoallOptions options{.gap = 0.05, .variables = 0};
  const auto optimum = alltoall_optimum(network, demand, options);
  ASSERT_TRUE(optimum);
  EXPECT_EQ(optimum->statistics.iterations, 0);
  const AlltoallProof proof = proof_of(network, demand, options);
  EXPECT_GE(proof.reached.to_double(), proof.at_most.to_double() * 0.95);
  EXPECT_FALSE(proof.cut.empty());
}

// Eight boxes on rails with amounts that differ by chance: the NICs are what all wait for, and one
// tree for all that a GPU sends would leave by one of them.
TEST(AlltoallOptimum, AmountsByChanceNeedNoIterations) {
  const Network network = test::h100_rails(8, 1);
  const std::size_t ranks = network.ranks.size();
  std::mt19937_64 random(11);
  std::vector<std::int64_t> amounts, hot;
  for (std::size_t i = 0; i < ranks * ranks; ++i) {
    amounts.push_back(1'000 + static_cast<std::int64_t>(random() % 100'000));
    hot.push_back(amounts.back() * (i % 8 == 3 ? 5 : 1));  // a rail of receivers
    if (i / ranks % 5 == 0) amounts.back() = 0;            // rows of nothing
  }
  for (const auto& each : {amounts, hot}) {
    const Demand demand = Demand::matrix(ranks, each);
    const AlltoallOptions options{.gap = 0.08, .variables = 0};
    const auto optimum = alltoall_optimum(network, demand, options);
    ASSERT_TRUE(optimum);
    EXPECT_EQ(optimum->statistics.iterations, 0);
    const AlltoallProof proof = proof_of(network, demand, options);
    EXPECT_GE(proof.reached.to_double(), proof.at_most.to_double() * 0.92);
  }
}

TEST(AlltoallOptimumLong, ThreadsChangeNothing) {
  const Network network = test::random_regular(80, 6, 3);
  AlltoallOptions options = first_order(0.005);
  const AlltoallProof one = proof_of(network, options);
  options.threads = 3;
  const AlltoallProof three = proof_of(network, options);
  EXPECT_EQ(one.reached, three.reached);
  EXPECT_EQ(one.lengths, three.lengths);
  ASSERT_EQ(one.flows.sources.size(), three.flows.sources.size());
  for (std::size_t i = 0; i < one.flows.sources.size(); ++i) {
    EXPECT_EQ(one.flows.sources[i].flow, three.flows.sources[i].flow) << i;
  }
}

TEST(AlltoallOptimum, AStopLeavesAnInterval) {
  std::stop_source stop;
  stop.request_stop();
  AlltoallOptions options = first_order(0);
  options.stop = stop.get_token();
  const AlltoallProof proof = proof_of(test::random_regular(64, 8, 2), options);
  EXPECT_GT(proof.reached, Ratio(0));
  EXPECT_LT(proof.reached, proof.at_most);
}

}  // namespace
}  // namespace forestcoll::testing
