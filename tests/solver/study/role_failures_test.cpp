// What an allreduce loses with a switch's role, against solving every changed fabric by itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "forestcoll/allreduce.hpp"
#include "forestcoll/failures.hpp"
#include "forestcoll/generate.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/topology.hpp"
#include "forestcoll/whatif.hpp"
#include "support/topology_of.hpp"

namespace forestcoll::testing {
namespace {

Ratio best(const Topology& topology) {
  return allreduce_optimum(*to_digraph(topology), switch_roles(topology))->split->algbw;
}

// Every role of every switch stands in one class, whose effect is that of dropping it.
RoleFailures expect_exact(const Topology& topology) {
  const auto found = role_failures(topology);
  EXPECT_TRUE(found);
  EXPECT_EQ(found->algbw, best(topology));
  std::set<std::string> met;
  for (const RoleFailureEffect& effect : found->effects) {
    for (const NodeId node : effect.switches) {
      const RoleFailureEffect one{{node}, effect.multicast, effect.algbw};
      const std::string drop = one.drop_text(topology);
      EXPECT_TRUE(met.insert(drop).second) << drop;
      EXPECT_EQ(best(degrade(topology, {.drop = {drop}})->topology), effect.algbw) << drop;
    }
  }
  std::size_t roles = 0;
  for (const TopologyNode& node : topology.nodes) {
    roles += (node.multicast ? 1 : 0) + (node.reduce ? 1 : 0);
  }
  EXPECT_EQ(met.size(), roles);
  EXPECT_TRUE(std::ranges::is_sorted(found->effects, {}, &RoleFailureEffect::algbw));
  return *found;
}

TEST(RoleFailures, AreThoseOfDroppingThem) {
  const RoleFailures box = expect_exact(test::generated_topology("dgx-h100"));
  EXPECT_EQ(box.algbw, Ratio(400));
  EXPECT_EQ(box.effects.size(), 2u);
  const RoleFailures boxes = expect_exact(test::generated_topology("dgx-h100", {{"boxes", "2"}}));
  ASSERT_EQ(boxes.effects.size(), 2u);
  EXPECT_EQ(boxes.effects[0].switches.size(), 2u);
}

// By links alone all switches are alike; by roles they are not.
TEST(RoleFailures, SwitchesOfOtherRolesAreOthers) {
  Topology topology = test::generated_topology("dgx-h100", {{"boxes", "3"}});
  for (TopologyNode& node : topology.nodes) {
    if (node.id == "box1/nvsw") node.multicast = false;
  }
  expect_exact(topology);
}

TEST(RoleFailures, WithoutRolesThereAreNone) {
  const auto found = role_failures(test::generated_topology("dgx-a100"));
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->effects.empty());
}

}  // namespace
}  // namespace forestcoll::testing
