// Small fabrics and forests for the simulator, and short ways to run it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "audit/builders.hpp"
#include "forestcoll/simulate.hpp"
#include "support/valid.hpp"

namespace audit_test {

using forestcoll::Code;
using forestcoll::NodeId;
using forestcoll::NodeType;
using forestcoll::Ratio;
using forestcoll::Simulation;
using forestcoll::SimulationOptions;
using forestcoll::SimulationParameters;
using forestcoll::Topology;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

struct Cable {
  int a, b;
  Ratio gbs = 10;
  Ratio latency_us = 0;
};

/// GPUs g0 … g(n−1), then switches s0, s1, …
inline Topology fabric(int gpus, int switches, const std::vector<Cable>& cables) {
  Topology topology;
  topology.name = "test";
  for (int v = 0; v < gpus + switches; ++v) {
    forestcoll::TopologyNode node;
    node.id = v < gpus ? fmt::format("g{}", v) : fmt::format("s{}", v - gpus);
    node.type = v < gpus ? NodeType::compute : NodeType::switch_node;
    const NodeId number = topology.nodes.push_back(node);
    if (v < gpus) topology.ranks.push_back(number);
  }
  for (const Cable& cable : cables) {
    forestcoll::TopologyLink link;
    link.src = NodeId(cable.a);
    link.dst = NodeId(cable.b);
    link.bandwidth = cable.gbs;
    link.latency = cable.latency_us;
    topology.links.push_back(link);
  }
  return topology;
}

/// All GPUs on one switch.
inline Topology star_fabric(int gpus, Ratio gbs = 10, Ratio latency_us = 0) {
  std::vector<Cable> cables;
  for (int g = 0; g < gpus; ++g) cables.push_back({g, gpus, gbs, latency_us});
  return fabric(gpus, 1, cables);
}

/// GPUs in a row, each linked with the next.
inline Topology row_fabric(int gpus, Ratio gbs = 10, Ratio latency_us = 0) {
  std::vector<Cable> cables;
  for (int g = 0; g + 1 < gpus; ++g) cables.push_back({g, g + 1, gbs, latency_us});
  return fabric(gpus, 0, cables);
}

/// A tree by the parent of every GPU (−1 at the root); edges pass the switches that `by` names.
struct TestTree {
  std::vector<int> parents;
  int multiplicity = 1;
  std::string by = {};
};

inline nlohmann::json tree_json(const TestTree& tree, bool inward) {
  nlohmann::json edges = nlohmann::json::array();
  int root = -1, height = 0;
  for (std::size_t v = 0; v < tree.parents.size(); ++v) {
    int depth = 0;
    for (int u = static_cast<int>(v); tree.parents[static_cast<std::size_t>(u)] >= 0; ++depth) {
      u = tree.parents[static_cast<std::size_t>(u)];
    }
    height = std::max(height, depth);
    const int parent = tree.parents[v];
    if (parent < 0) {
      root = static_cast<int>(v);
      continue;
    }
    std::string src = fmt::format("g{}", parent), dst = fmt::format("g{}", v);
    if (inward) std::swap(src, dst);
    nlohmann::json path = {src};
    if (!tree.by.empty()) path.push_back(tree.by);
    path.push_back(dst);
    edges.push_back({{"src", src}, {"dst", dst}, {"path", path}});
  }
  return {{"root", fmt::format("g{}", root)},
          {"multiplicity", tree.multiplicity},
          {"height", height},
          {"edges", edges}};
}

inline nlohmann::json trees_json(const std::vector<TestTree>& trees, bool inward) {
  nlohmann::json list = nlohmann::json::array();
  for (const TestTree& tree : trees) list.push_back(tree_json(tree, inward));
  return list;
}

/// The rate that it claims is not looked at.
inline nlohmann::json forest_json(const std::string& collective, int gpus, int k,
                                  const std::vector<TestTree>& trees) {
  nlohmann::json forest = {
      {"format", "forestcoll-forest"}, {"version", 1}, {"topology", "test"},
      {"collective", collective},      {"k", k},       {"algbw", {{"exact", "1"}, {"value", 1}}}};
  for (int g = 0; g < gpus; ++g) forest["ranks"].push_back(fmt::format("g{}", g));
  if (collective == "allreduce") {
    forest["reduce"] = trees_json(trees, true);
    forest["broadcast"] = trees_json(trees, false);
  } else {
    forest["trees"] = trees_json(trees, collective.starts_with("reduce"));
  }
  return forest;
}

/// From every root r the tree by parents (r + offset) of a tree at root 0.
inline std::vector<TestTree> rotated(const std::vector<int>& parents, const std::string& by = {}) {
  const int n = static_cast<int>(parents.size());
  std::vector<TestTree> trees;
  for (int r = 0; r < n; ++r) {
    TestTree tree{std::vector<int>(parents.size()), 1, by};
    for (int v = 0; v < n; ++v) {
      const int parent = parents[static_cast<std::size_t>(v)];
      tree.parents[static_cast<std::size_t>((v + r) % n)] = parent < 0 ? -1 : (parent + r) % n;
    }
    trees.push_back(tree);
  }
  return trees;
}

inline std::vector<int> chain_parents(int n) {
  std::vector<int> parents;
  for (int v = 0; v < n; ++v) parents.push_back(v - 1);
  return parents;
}
inline std::vector<int> star_parents(int n) {
  std::vector<int> parents(static_cast<std::size_t>(n), 0);
  parents[0] = -1;
  return parents;
}

inline Simulation simulated(const std::string& schedule, const Topology& topology,
                            const std::vector<std::int64_t>& sizes,
                            const SimulationParameters& parameters = {},
                            const SimulationOptions& options = {}) {
  const auto simulator = forestcoll::prepare_simulation(schedule, "schedule", topology);
  if (!simulator) {
    ADD_FAILURE() << to_string(simulator.errors().front());
    return {};
  }
  return forestcoll::test::valid(simulator->run(sizes, parameters, options));
}

inline double seconds_for(const std::string& schedule, const Topology& topology, std::int64_t size,
                          const SimulationParameters& parameters = {},
                          const SimulationOptions& options = {}) {
  const auto simulation = simulated(schedule, topology, {size}, parameters, options);
  return simulation.times.empty() ? -1 : simulation.times.front().seconds;
}

}  // namespace audit_test
