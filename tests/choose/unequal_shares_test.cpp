// Ranks that own unequal shares: every format, collective and placement, on small random fabrics.
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <utility>

#include "forestcoll/codes.hpp"
#include "forestcoll/compile.hpp"
#include "support/fabrics.hpp"
#include "support/oracles.hpp"
#include "support/topology_of.hpp"
#include "support/valid.hpp"

namespace forestcoll::testing {
namespace {

// In lowest integers, as the largest is 1 more than another.
std::vector<std::int64_t> shares_for(std::size_t ranks, bool with_none, std::mt19937_64& random) {
  std::vector<std::int64_t> shares;
  for (std::size_t r = 0; r < ranks; ++r) {
    shares.push_back(static_cast<std::int64_t>(random() % 3) + (with_none ? 0 : 1));
  }
  const std::size_t least = random() % ranks;
  shares[least] = with_none ? 0 : 1;
  shares[(least + 1) % ranks] = with_none ? 1 : 2;
  return shares;
}

Fabric fabric_of(const Network& network, const std::vector<std::int64_t>& shares) {
  Topology topology = test::topology_of(network);
  for (std::size_t r = 0; r < shares.size(); ++r) {
    topology.nodes[topology.ranks[r]].weight = shares[r];
  }
  return test::valid(make_fabric(std::move(topology)));
}

CompileOptions asked_for(Collective collective, Format format, Placement placement) {
  CompileOptions options;
  options.synthesis.collective = collective;
  options.format = format;
  options.lowering.placement = placement;
  return options;
}

// By the definition: the most that leaves a set of nodes, over all sets.
Ratio optimum_of(const Fabric& fabric, Collective collective) {
  const Network& network = fabric.network;
  const Ratio data(std::accumulate(network.weight.begin(), network.weight.end(), std::int64_t{0}));
  const bool turned = collective == Collective::reduce_scatter;
  return data /
         test::brute_force_inverse_rate(turned ? reversed(network) : network, network.weight) *
         network.unit;
}

void expect_right(const Fabric& fabric, const CompileOptions& options, const Ratio& optimum) {
  const auto made = compile(fabric, options);
  ASSERT_TRUE(made) << to_string(made.errors().front());
  const auto verdict = verify(made->text, "schedule", &fabric.topology, {});
  ASSERT_TRUE(verdict) << to_string(verdict.errors().front());
  ASSERT_TRUE(verdict->ok) << to_string(verdict->findings.front()) << made->text;
  const CollectiveForest& forest = made->chosen.synthesis.forest;
  EXPECT_EQ(forest.optimum, optimum);
  EXPECT_EQ(verdict->algbw, reached_by(*made));
  EXPECT_LE(reached_by(*made), optimum);
  EXPECT_EQ(verdict->chunks % chunks_of(forest), 0);
}

TEST(UnequalSharesLong, AreRightInEveryFormatAndPlacement) {
  std::mt19937_64 random(1);
  for (std::uint64_t seed = 0; seed < 18; ++seed) {
    const bool with_none = seed % 2 == 0;
    const Network network = test::random_fabric(seed, {.max_compute = 5, .one_way = seed % 3 == 0});
    const auto shares = shares_for(network.ranks.size(), with_none, random);
    const Fabric fabric = fabric_of(network, shares);
    ASSERT_TRUE(has_unequal_shares(fabric.network, Collective::allgather));
    for (const auto collective : {Collective::allgather, Collective::reduce_scatter}) {
      SCOPED_TRACE(std::to_string(seed) + std::string(to_string(collective)));
      const Ratio optimum = optimum_of(fabric, collective);
      expect_right(fabric, asked_for(collective, Format::forest, Placement::in_place), optimum);
      for (const auto placement : {Placement::in_place, Placement::out_of_place}) {
        expect_right(fabric, asked_for(collective, Format::msccl, placement), optimum);
        const auto plan = asked_for(collective, Format::mscclpp, placement);
        if (!with_none) {
          expect_right(fabric, plan, optimum);
        } else {
          const auto refused = compile(fabric, plan);
          ASSERT_FALSE(refused);
          EXPECT_EQ(refused.errors().front().code, Code::T09);
        }
      }
    }
  }
}

// A runtime whose steps do one thing each, and whose waits want outputs.
TEST(UnequalShares, AreForRcclAsWell) {
  std::mt19937_64 random(2);
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const Network network = test::random_fabric(seed, {.max_compute = 4});
    const Fabric fabric = fabric_of(network, shares_for(network.ranks.size(), true, random));
    for (const auto collective : {Collective::allgather, Collective::reduce_scatter}) {
      for (const auto placement : {Placement::in_place, Placement::out_of_place}) {
        for (const char* target : {"rccl-5.7", "rccl-6", "rccl-6.3"}) {
          CompileOptions options = asked_for(collective, Format::msccl, placement);
          options.lowering.target = target;
          const auto made = compile(fabric, options);
          ASSERT_TRUE(made) << to_string(made.errors().front());
          EXPECT_TRUE(made->verdict.ok) << to_string(made->verdict.findings.front());
        }
      }
    }
  }
}

// A file for others' shares is not for these.
TEST(UnequalShares, OfAnotherTopologyAreNotThose) {
  test::FabricBuilder builder(3, 1);
  for (std::size_t r = 0; r < 3; ++r) builder.link(r, 3, 6);
  const Network network = builder.build();
  const Fabric fabric = fabric_of(network, {2, 1, 1});
  const Fabric other = fabric_of(network, {1, 2, 1}), equal = fabric_of(network, {1, 1, 1});
  for (const Format format : {Format::msccl, Format::mscclpp}) {
    const auto made =
        compile(fabric, asked_for(Collective::allgather, format, Placement::in_place));
    ASSERT_TRUE(made) << to_string(made.errors().front());
    EXPECT_TRUE(made->verdict.ok);
    EXPECT_TRUE(verify(made->text, "x", nullptr, {})->ok);
    for (const Fabric& wrong : {other, equal}) {
      const auto verdict = verify(made->text, "x", &wrong.topology, {});
      ASSERT_FALSE(verdict->ok);
      EXPECT_EQ(verdict->findings.front().code, Code::V20);
    }
  }
}

}  // namespace
}  // namespace forestcoll::testing
