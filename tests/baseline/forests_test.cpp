// Every baseline on many fabrics: its forest is one, reaches what it claims, and no more than the
// bound; where there is none, an error or a note says why.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "baseline/baseline_testing.hpp"
#include "forestcoll/allreduce.hpp"
#include "forestcoll/congestion.hpp"
#include "forestcoll/emit.hpp"
#include "forestcoll/synthesize.hpp"
#include "forestcoll/topology.hpp"
#include "forestcoll/verify.hpp"
#include "support/fabrics.hpp"
#include "support/topology_of.hpp"

namespace forestcoll {
namespace {

using test::TestFabric;
using ::testing::AnyOf;
using ::testing::HasSubstr;

// The two phases of an allreduce run at once, which can be better than one after the other.
Ratio optimum(const Network& network, Collective collective, std::optional<Rank> root) {
  const auto best = bound(network, collective, root);
  if (!best) throw std::runtime_error(to_string(best.errors().front()));
  if (collective != Collective::allreduce) return best->algbw;
  const auto at_once = allreduce_optimum(network);
  if (!at_once) throw std::runtime_error(to_string(at_once.errors().front()));
  return std::max(best->algbw, at_once->upper);
}

// Trees that branch at switches have an optimum of their own.
void expect_sound(const TestFabric& fabric, const BranchingForest& branching,
                  const std::string& what) {
  const auto best = allreduce_optimum(fabric.network, switch_roles(fabric.topology));
  ASSERT_TRUE(best) << what;
  BranchingForest forest = branching;
  forest.optimum = best->upper;
  const auto verdict =
      verify(to_forest_json(forest, fabric.topology), "forest", &fabric.topology, {});
  ASSERT_TRUE(verdict) << what;
  EXPECT_TRUE(verdict->ok) << what << ": " << to_string(verdict->findings.front());
  EXPECT_EQ(verdict->algbw, branching.algbw) << what;
}

// A forest is accepted by the checker, which adds up its loads again, and is no faster than the
// bound; a rate alone says why.
void expect_sound(const TestFabric& fabric, const BaselineResult& result, Collective collective,
                  const std::string& what) {
  std::optional<Rank> root;
  if (result.forest) root = result.forest->root;
  if (is_rooted(collective) && !root) root = Rank(fabric.network.ranks.size() / 2);
  EXPECT_GT(result.algbw, Ratio(0)) << what;
  if (result.branching) {
    EXPECT_EQ(result.branching->algbw, result.algbw) << what;
    expect_sound(fabric, *result.branching, what);
    return;
  }
  const Ratio limit = optimum(fabric.network, collective, root);
  // The cuts bind relayed messages too.
  EXPECT_LE(result.algbw, limit) << what;
  if (!result.forest) {
    EXPECT_THAT(result.note, HasSubstr("the rate alone")) << what;
    return;
  }
  CollectiveForest forest = *result.forest;
  EXPECT_EQ(forest.algbw, result.algbw) << what;
  EXPECT_EQ(forest.collective, collective) << what;
  EXPECT_EQ(congestion_algbw(forest, fabric.network), result.algbw) << what;
  forest.optimum = limit;
  const auto verdict =
      verify(to_forest_json(forest, fabric.topology), "forest", &fabric.topology, {});
  ASSERT_TRUE(verdict) << what;
  EXPECT_TRUE(verdict->ok) << what << ": " << to_string(verdict->findings.front());
  EXPECT_EQ(verdict->algbw, result.algbw) << what;
}

void expect_all_sound(const TestFabric& fabric, const std::string& what) {
  for (const BaselineInfo& info : baselines()) {
    for (const Collective collective : info.supported) {
      const std::string name =
          what + " " + std::string(info.name) + " " + std::string(to_string(collective));
      const auto result = test::try_make(std::string(info.name), fabric, collective);
      if (result) {
        expect_sound(fabric, *result, collective, name);
      } else {
        EXPECT_THAT(result.errors().front().code, AnyOf(Code::B01, Code::B02, Code::B03, Code::B08))
            << name;
        EXPECT_FALSE(result.errors().front().remedy.empty()) << name;
      }
    }
  }
}

class BundledBaselines : public ::testing::TestWithParam<std::string> {};

TEST_P(BundledBaselines, AreSound) {
  expect_all_sound(test::bundled(GetParam()), GetParam());
}

// The torus of 512 has a test of its own below: its forests are files of many megabytes.
std::vector<std::string> large_ones() {
  auto names = test::large_bundled_names();
  std::erase(names, "torus-8x8x8");
  return names;
}

std::string fabric_name(const ::testing::TestParamInfo<std::string>& each) {
  std::string name = each.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Topologies, BundledBaselines,
                         ::testing::ValuesIn(test::small_bundled_names()), fabric_name);
INSTANTIATE_TEST_SUITE_P(TopologiesLong, BundledBaselines, ::testing::ValuesIn(large_ones()),
                         fabric_name);

TEST(LargeBaselinesLong, TheTorusOf512) {
  const auto fabric = test::bundled("torus-8x8x8");
  const auto best = bound(fabric.network, Collective::allgather, std::nullopt);
  const auto result = test::make("halving-doubling", fabric);
  EXPECT_LE(result.algbw, best->algbw);
  EXPECT_FALSE(result.forest);
}

// A topology with the links of a random network; every `box_size` ranks share a box, 0: no boxes.
TestFabric random_topology(std::uint64_t seed, const test::RandomOptions& options,
                           std::size_t box_size) {
  Topology topology = test::topology_of(test::random_fabric(seed, options));
  for (std::size_t v = 0; box_size > 0 && v < topology.nodes.size(); ++v) {
    TopologyNode& node = topology.nodes[NodeId(v)];
    if (node.type == NodeType::compute) node.box = "box" + std::to_string(v / box_size);
  }
  return TestFabric(std::move(topology));
}

TEST(RandomBaselinesLong, AreSoundWithOneBoxOrMany) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const test::RandomOptions options{.max_compute = 8,
                                      .max_switches = 3,
                                      .max_capacity = 6,
                                      .one_way = seed % 4 == 1,
                                      .unbalanced = seed % 4 == 3};
    const auto fabric = random_topology(seed, options, seed % 5);
    expect_all_sound(fabric, "seed " + std::to_string(seed));
    if (HasFailure()) return;
  }
}

TEST(RandomBaselines, ScaleWithTheBandwidths) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const auto fabric = random_topology(seed, {.max_compute = 8}, 0);
    Topology wider = fabric.topology;
    for (TopologyLink& link : wider.links) link.bandwidth = link.bandwidth * Ratio(68'719'476'736);
    const TestFabric other(std::move(wider));
    for (const BaselineInfo& info : baselines()) {
      const auto a = test::try_make(std::string(info.name), fabric, info.supported.front());
      const auto b = test::try_make(std::string(info.name), other, info.supported.front());
      ASSERT_EQ(a.has_value(), b.has_value()) << seed << " " << info.name;
      if (a) {
        EXPECT_EQ(a->algbw * Ratio(68'719'476'736), b->algbw) << seed << " " << info.name;
      }
    }
  }
}

TEST(Baselines, TheSameInputGivesTheSameForest) {
  const auto fabric = test::bundled("mi250-x2");
  for (const char* name : {"nccl-ring", "multitree", "bfb", "greedy", "hierarchical"}) {
    const auto a = test::make(name, fabric), b = test::make(name, fabric);
    EXPECT_EQ(to_forest_json(*a.forest, fabric.topology),
              to_forest_json(*b.forest, fabric.topology))
        << name;
  }
}

}  // namespace
}  // namespace forestcoll
