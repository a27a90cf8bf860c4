// Trees that branch at switches before the simulator, beside what can be worked out by hand.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "simulate/simulate_testing.hpp"

namespace audit_test {
namespace {

/// Ways between nodes, each with the nodes that it passes through, in the direction of broadcasts.
using Ways = std::vector<std::vector<std::string>>;

nlohmann::json way_tree(const std::string& root, Ways ways, int height, bool inward) {
  nlohmann::json edges = nlohmann::json::array();
  for (auto& way : ways) {
    if (inward) std::reverse(way.begin(), way.end());
    edges.push_back({{"src", way.front()}, {"dst", way.back()}, {"path", way}});
  }
  return {{"root", root}, {"multiplicity", 1}, {"height", height}, {"edges", edges}};
}

// Both phases along the same ways. The rate that it claims is not looked at.
std::string branching_forest(int gpus, const std::vector<std::pair<std::string, Ways>>& trees,
                             int height) {
  nlohmann::json forest = {{"format", "forestcoll-forest"},
                           {"version", 3},
                           {"topology", "test"},
                           {"collective", "allreduce"},
                           {"chunks", trees.size()},
                           {"algbw", {{"exact", "1"}, {"value", 1}}}};
  for (int g = 0; g < gpus; ++g) forest["ranks"].push_back(fmt::format("g{}", g));
  for (const auto& [root, ways] : trees) {
    forest["reduce"].push_back(way_tree(root, ways, height, true));
    forest["broadcast"].push_back(way_tree(root, ways, height, false));
  }
  return forest.dump();
}

// Every GPU sums up one share through the switch, and stores it at all.
std::string through_one_switch(int gpus) {
  std::vector<std::pair<std::string, Ways>> trees;
  for (int r = 0; r < gpus; ++r) {
    Ways ways = {{fmt::format("g{}", r), "s0"}};
    for (int g = 0; g < gpus; ++g) {
      if (g != r) ways.push_back({"s0", fmt::format("g{}", g)});
    }
    trees.emplace_back(fmt::format("g{}", r), ways);
  }
  return branching_forest(gpus, trees, 2);
}

Topology able_star(int gpus, bool echo) {
  Topology topology = star_fabric(gpus, 10, 1);
  auto& node = topology.nodes[NodeId(gpus)];
  node.multicast = node.reduce = true;
  node.echo = echo;
  return topology;
}

SimulationParameters slow() {
  SimulationParameters parameters;
  parameters.hop_us = 0.25;
  parameters.in_network_efficiency = 0.5;
  parameters.simple.step_us = 3;
  parameters.simple.message_us = 7;
  return parameters;
}

// A read and a store: each a step, a message, and two links of 1 us and a hop each.
TEST(SimulateBranching, SmallOnesTakeTwoMessagesThroughTheSwitch) {
  for (const int n : {2, 5, 8}) {
    const double seconds = seconds_for(through_one_switch(n), able_star(n, true), n, slow());
    EXPECT_NEAR(seconds, 2 * (3 + 7 + 2 * 1.25) * 1e-6, 1e-8) << n;
  }
}

// With an echo, a link carries everything once and the GPU's own share once more.
TEST(SimulateBranching, LargeOnesLoadLinksWithEchoes) {
  for (const int n : {2, 4, 7}) {
    const std::int64_t size = 256 * kMiB * n;
    const double once = static_cast<double>(size) / 10e9;
    const auto forest = through_one_switch(n);
    const double with_echo = once * (n + 1) / n;
    EXPECT_NEAR(seconds_for(forest, able_star(n, true), size), with_echo, 0.01 * with_echo) << n;
    EXPECT_NEAR(seconds_for(forest, able_star(n, false), size), once, 0.01 * once) << n;
  }
}

// What is measured of NVSwitches holds where data echoes.
TEST(SimulateBranching, EfficiencyInTheNetworkIsThatOfEchoingSwitches) {
  const std::int64_t size = 1024 * kMiB;
  const double once = static_cast<double>(size) / 10e9;
  const auto forest = through_one_switch(4);
  EXPECT_NEAR(seconds_for(forest, able_star(4, true), size, slow()), 2.5 * once, 0.025 * once);
  EXPECT_NEAR(seconds_for(forest, able_star(4, false), size, slow()), once, 0.01 * once);
}

// Data goes up once and comes down once; the switch takes no step.
TEST(SimulateBranching, ASwitchThatIsARootPassesOn) {
  Ways ways;
  for (int g = 0; g < 3; ++g) ways.push_back({"s0", fmt::format("g{}", g)});
  const auto forest = branching_forest(3, {{"s0", ways}}, 1);
  EXPECT_NEAR(seconds_for(forest, able_star(3, false), 3, slow()), (3 + 2 * (7 + 1.25)) * 1e-6,
              1e-8);
  const double once = 512.0 * kMiB / 10e9;
  EXPECT_NEAR(seconds_for(forest, able_star(3, false), 512 * kMiB), once, 0.01 * once);
}

// Two boxes: a sum in each, one message between them, and stores in each. The narrow link between
// the boxes carries everything once each way.
TEST(SimulateBranching, BoxesExchangeWhatTheySummedUp) {
  Topology topology =
      fabric(4, 2, {{0, 4}, {1, 4}, {2, 5}, {3, 5}, {0, 2, 2, 5}});  // s0 and s1, and g0 to g2
  for (const int s : {4, 5}) {
    topology.nodes[NodeId(s)].multicast = topology.nodes[NodeId(s)].reduce = true;
  }
  const Ways ways = {{"g0", "s0"}, {"s0", "g1"}, {"g0", "g2"}, {"g2", "s1"}, {"s1", "g3"}};
  const auto forest = branching_forest(4, {{"g0", ways}}, 3);
  const double large = 1024.0 * kMiB / 2e9;
  EXPECT_NEAR(seconds_for(forest, topology, 1024 * kMiB), large, 0.01 * large);
  SimulationParameters parameters = slow();
  parameters.hop_us = 0;
  // Through a switch, over the link of 5 us, and back, and out through a switch.
  EXPECT_NEAR(seconds_for(forest, topology, 4, parameters), (4 * (3 + 7) + 2 * 5) * 1e-6, 1e-7);
}

}  // namespace
}  // namespace audit_test
