// The rate of trees where switches' two sides differ: against another program, against its own
// proofs added up by the audit, and against forests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "forestcoll/pack.hpp"
#include "forestcoll/rate.hpp"
#include "forestcoll/synthesize.hpp"
#include "forestcoll/verify.hpp"
#include "solver/rate/balance.hpp"
#include "support/balance_oracle.hpp"
#include "support/fabrics.hpp"
#include "support/oracles.hpp"

namespace forestcoll::testing {
namespace {

using test::FabricBuilder;

Network unbalanced_fabric(std::uint64_t seed, Capacity max_capacity = 6) {
  return test::random_fabric(seed, {.max_compute = 6,
                                    .max_switches = 4,
                                    .max_capacity = max_capacity,
                                    .one_way = seed % 3 == 0,
                                    .unbalanced = true});
}

Weights weights_for(const Network& network, std::uint64_t seed) {
  Weights weights = uniform_weights(network);
  if (seed % 4 == 1) return single_root(network, Rank(0));
  if (seed % 4 == 2) weights[Rank(0)] = 3;
  if (seed % 4 == 3) weights[Rank(network.ranks.size() - 1)] = 0;
  return weights;
}

void expect_near_oracle(const Network& network, const Weights& weights, const Rate& rate) {
  const double oracle = test::rate_by_flows(network, weights);
  EXPECT_NEAR(1 / rate.inverse.to_double(), oracle, 1e-7 * oracle);
}

TEST(TreeRateLong, IsThatOfTheBestBalancedPart) {
  int below_the_cut = 0;
  for (std::uint64_t seed = 0; seed < 3'000; ++seed) {
    SCOPED_TRACE(seed);
    const Network network = unbalanced_fabric(seed);
    const Weights weights = weights_for(network, seed);
    const Rate rate = tree_rate(network, weights);
    expect_near_oracle(network, weights, rate);
    below_the_cut += !is_proved_by_cut(rate);
  }
  EXPECT_GT(below_the_cut, 5);
}

TEST(TreeRate, IsProvedFromBothSides) {
  int priced = 0;
  for (std::uint64_t seed = 0; seed < 3'000; ++seed) {
    SCOPED_TRACE(seed);
    const Network network = unbalanced_fabric(seed, seed % 5 == 0 ? 100'000 : 6);
    const Weights weights = weights_for(network, seed);
    const Rate rate = tree_rate(network, weights);
    if (!rate.part) {
      EXPECT_EQ(rate.inverse, test::brute_force_inverse_rate(network, weights));
      continue;
    }
    EXPECT_EQ(rate_of_part(network, weights, *rate.part), rate.inverse);
    if (rate.part->proof.cuts.empty()) {
      EXPECT_EQ(rate.inverse, Ratio(rate.bottleneck.weight, rate.bottleneck.exit));
    } else {
      EXPECT_EQ(rate_by_prices(network, weights, rate.part->proof), rate.inverse);
      ++priced;
    }
  }
  EXPECT_GT(priced, 5);
}

TEST(TreeRate, IsReachedByTrees) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    const Network network = unbalanced_fabric(seed);
    const Weights weights = weights_for(network, seed);
    const Rate rate = tree_rate(network, weights);
    const Scaling scaling = scale_to_optimum(network, rate);
    EXPECT_EQ(scaling.scale / Ratio(scaling.k), rate.inverse);
    const auto packing = pack(network, weights, scaling);
    ASSERT_TRUE(packing);
    EXPECT_EQ(packing->scaling.k, scaling.k);
    EXPECT_EQ(packing->scaling.scale, scaling.scale);
    EXPECT_EQ(test::find_forest_flaw(network, weights, packing->scaling, packing->forest), "");
  }
}

TEST(TreeRate, BalancedFabricsNeedNoPart) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Network network = test::random_fabric(seed, {.one_way = seed % 2 == 0});
    const Rate rate = tree_rate(network, uniform_weights(network));
    EXPECT_FALSE(rate.part);
    EXPECT_EQ(rate.inverse, optimal_rate(network, uniform_weights(network)).inverse);
  }
}

TEST(TreeRate, GrowsWithTheCapacities) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Network network = unbalanced_fabric(seed);
    const Weights weights = weights_for(network, seed);
    const Ratio before = tree_rate(network, weights).inverse;
    for (Capacity& capacity : network.capacity) capacity *= 1'000'003;
    EXPECT_EQ(tree_rate(network, weights).inverse * Ratio(1'000'003), before);
  }
}

// Two leaves of two GPUs below a spine, the uplink of one leaf twice as wide as its downlink.
TEST(TreeRate, OfAnUplinkThatNothingComesBackOn) {
  FabricBuilder fabric(4, 3);
  for (const std::size_t gpu : {0, 1, 2, 3}) fabric.link(gpu, 4 + gpu / 2, 3);
  fabric.arc(4, 6, 4);
  fabric.arc(6, 4, 2);
  fabric.link(5, 6, 4);
  const Network network = fabric.build();
  const Weights weights = uniform_weights(network);
  const Rate rate = tree_rate(network, weights);
  // Two GPUs' data has to come down 2: x = 1, three of which enter every GPU.
  EXPECT_EQ(rate.inverse, Ratio(1));
  ASSERT_TRUE(rate.part);
  EXPECT_EQ(rate_of_part(network, weights, *rate.part), Ratio(1));
}

// The 64 one-way failures between the switches of a small fat tree leave every GPU its own link.
TEST(TreeRateLong, OfAFatTreeWithOneWayFailures) {
  const Network whole = test::fat_tree(4);
  int dropped = 0;
  for (std::size_t a = 0; a < whole.graph.arc_count(); ++a) {
    if (whole.is_compute(whole.graph.tail(ArcId(a))) ||
        whole.is_compute(whole.graph.head(ArcId(a)))) {
      continue;
    }
    SCOPED_TRACE(a);
    ++dropped;
    FabricBuilder fabric(whole.ranks.size(), whole.graph.node_count() - whole.ranks.size());
    for (std::size_t b = 0; b < whole.graph.arc_count(); ++b) {
      const Arc& arc = whole.graph.arcs()[b];
      if (a != b) fabric.arc(arc.tail.index(), arc.head.index(), 1);
    }
    const Network network = fabric.build();
    SynthesizeOptions options{.collective = Collective::allgather,
                              .trees_per_root = {TreesPerRoot::Mode::optimal, 1},
                              .packing = {.effort = Effort::fast}};
    const auto synthesis = synthesize(network, options);
    ASSERT_TRUE(synthesis);
    EXPECT_EQ(synthesis->forest.optimum, Ratio(16, 15));
    EXPECT_EQ(synthesis->forest.algbw, Ratio(16, 15));
  }
  EXPECT_EQ(dropped, 64);
}

TEST(TreeRate, BeyondItsLimitsIsABoundByTheCut) {
  int left_out = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Network network = unbalanced_fabric(seed);
    const Weights weights = uniform_weights(network);
    const Rate whole = tree_rate(network, weights);
    const Rate rate = tree_rate(network, weights, {}, {.variables = 1});
    EXPECT_LE(rate.inverse, whole.inverse);
    if (whole.inverse == rate.inverse) continue;
    ++left_out;
    EXPECT_FALSE(rate.part);
    EXPECT_EQ(rate.inverse, test::brute_force_inverse_rate(network, weights));
  }
  EXPECT_GT(left_out, 0);
}

// A fabric whose rate its cuts do not prove.
std::pair<Network, Rate> priced_fabric() {
  for (std::uint64_t seed = 0;; ++seed) {
    Network network = unbalanced_fabric(seed);
    Rate rate = tree_rate(network, uniform_weights(network));
    if (rate.part && !rate.part->proof.cuts.empty()) return {std::move(network), std::move(rate)};
  }
}

TEST(BalanceProof, IsNotTakenOnTrust) {
  const auto [network, rate] = priced_fabric();
  const Weights weights = uniform_weights(network);
  const BalanceProof& proof = rate.part->proof;
  ASSERT_EQ(rate_by_prices(network, weights, proof), rate.inverse);
  BalanceProof negative = proof;
  negative.cuts.front().price = -1;
  EXPECT_FALSE(rate_by_prices(network, weights, negative));
  BalanceProof everything = proof;
  for (std::size_t v = 0; v < network.graph.node_count(); ++v) {
    everything.cuts.front().sending.push_back(NodeId(v));
  }
  EXPECT_FALSE(rate_by_prices(network, weights, everything));
  BalanceProof at_gpu = proof;
  at_gpu.price[network.ranks.front()] = 1;
  EXPECT_FALSE(rate_by_prices(network, weights, at_gpu));
  BalanceProof no_automorphism = proof;
  IdVector<NodeId, NodeId> turned;
  const std::size_t nodes = network.graph.node_count();
  for (std::size_t v = 0; v < nodes; ++v) turned.push_back(NodeId((v + 1) % nodes));
  no_automorphism.symmetries.push_back(turned);
  EXPECT_FALSE(rate_by_prices(network, weights, no_automorphism));
  BalanceProof unbalanced = proof;
  unbalanced.price.assign(nodes, 0);
  const auto weaker = rate_by_prices(network, weights, unbalanced);
  EXPECT_TRUE(!weaker || *weaker < rate.inverse);
}

TEST(BalanceProof, PartsAreNotTakenOnTrust) {
  const auto [network, rate] = priced_fabric();
  const Weights weights = uniform_weights(network);
  BalancedPart part = *rate.part;
  part.capacity = network.capacity;
  part.denominator = 1;
  EXPECT_FALSE(rate_of_part(network, weights, part)) << "not balanced";
  part = *rate.part;
  for (Capacity& capacity : part.capacity) capacity *= 1000;
  EXPECT_FALSE(rate_of_part(network, weights, part)) << "more than there is";
}

// What `-k N` reaches is never more than the optimum, nor more than what a search up to N finds,
// nor less than with a divisor of N.
TEST(TreeRate, NoKBeatsTheOptimumOrTheSearch) {
  using Mode = TreesPerRoot::Mode;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const Network network = unbalanced_fabric(seed);
    const auto reached = [&](TreesPerRoot k) {
      return synthesize(network, {.collective = Collective::allgather,
                                  .trees_per_root = k,
                                  .packing = {.effort = Effort::fast}})
          ->forest.algbw;
    };
    const Ratio optimum = reached({Mode::optimal, 1});
    std::vector<Ratio> at = {0};
    for (std::int64_t k = 1; k <= 6; ++k) at.push_back(reached({Mode::fixed, k}));
    const Ratio searched = reached({Mode::best_up_to, 6});
    for (std::size_t k = 1; k < at.size(); ++k) {
      EXPECT_LE(at[k], optimum) << k;
      EXPECT_LE(at[k], searched) << k;
      for (std::size_t d = 1; d < k; ++d) {
        if (k % d != 0) continue;
        EXPECT_LE(at[d], at[k]) << d << " " << k;
      }
    }
  }
}

}  // namespace
}  // namespace forestcoll::testing
