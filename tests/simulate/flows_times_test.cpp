// The times of flows: by hand on small fabrics, and between bounds on all that are bundled.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "forestcoll/baseline.hpp"
#include "forestcoll/compile.hpp"
#include "forestcoll/simulate.hpp"
#include "forestcoll/topology.hpp"
#include "support/alltoall.hpp"
#include "support/files.hpp"

namespace forestcoll::testing {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kBuffer = 3'000'000'000;  // of three blocks: a block is 1 GB

// a - b - c, 10 GB/s each, of 5 µs latency.
Topology late_line() {
  const auto parsed = parse_topology(
      R"({"format": "forestcoll-topology", "version": 1, "name": "line",
          "nodes": [{"id": "a", "type": "compute"}, {"id": "b", "type": "compute"},
                    {"id": "c", "type": "compute"}],
          "links": [{"src": "a", "dst": "b", "bandwidth": 10, "latency": "5 us"},
                    {"src": "b", "dst": "c", "bandwidth": 10, "latency": "5 us"}]})",
      "line");
  EXPECT_TRUE(parsed);
  return parsed->topology;
}

Json timed_pair(const std::vector<std::string>& path, const std::vector<int>& rounds) {
  return {{"src", path.front()},
          {"dst", path.back()},
          {"paths", {{{"share", "1"}, {"rounds", rounds}, {"path", path}}}}};
}

// What is relayed leaves the ends in round 0 and b in round 1; what the ends have for b, and b for
// them, goes in the rounds that are given.
Json line_flows(int for_b, int of_b) {
  const int rounds = 4;
  return {{"format", "forestcoll-flows"},
          {"version", 1},
          {"collective", "alltoall"},
          {"k", 1},
          {"algbw", {{"exact", "15"}}},
          {"rounds", rounds},
          {"ranks", {"a", "b", "c"}},
          {"pairs",
           {timed_pair({"a", "b"}, {for_b}), timed_pair({"a", "b", "c"}, {0, 1}),
            timed_pair({"b", "a"}, {of_b}), timed_pair({"b", "c"}, {of_b}),
            timed_pair({"c", "b", "a"}, {0, 1}), timed_pair({"c", "b"}, {for_b})}}};
}

Simulation simulated(const Json& flows, const SimulationParameters& parameters,
                     std::int64_t bytes) {
  const auto simulator = prepare_simulation(flows.dump(), "flows.json", late_line());
  EXPECT_TRUE(simulator) << to_string(simulator.errors().front());
  auto simulation = simulator->run({bytes}, parameters, {.tolerance = 0});
  EXPECT_TRUE(simulation);
  return *std::move(simulation);
}

double seconds_of(const Json& flows, const SimulationParameters& parameters, std::int64_t bytes) {
  return simulated(flows, parameters, bytes).times.front().seconds;
}

// Two blocks over every link, one after the other; b has to wait for the latency of what it relays.
TEST(FlowsTimes, ALinkTakesItsRoundsInOrder) {
  EXPECT_NEAR(seconds_of(line_flows(1, 0), {}, kBuffer), 0.2 + 10e-6, 1e-9);
  // Relayed data first on the second leg too: the link of b is idle in round 0.
  EXPECT_NEAR(seconds_of(line_flows(1, 2), {}, kBuffer), 0.3 + 10e-6, 1e-9);
}

// What b has, and what it relays, are one message of two blocks, which begins when both are there.
TEST(FlowsTimes, WhatTakesTheSameLinksInARoundIsOneMessage) {
  EXPECT_NEAR(seconds_of(line_flows(1, 1), {}, kBuffer), 0.3 + 10e-6, 1e-9);
  EXPECT_LT(simulated(line_flows(1, 1), {}, 3).events, simulated(line_flows(1, 0), {}, 3).events);
  EXPECT_LT(simulated(line_flows(0, 1), {}, 3).events, simulated(line_flows(1, 1), {}, 3).events);
}

// A step at the end and one at the relay, and two latencies; the steps of what needs no data of
// others are done meanwhile.
TEST(FlowsTimes, StepsAreDoneWhileTheRoundBeforeMoves) {
  const SimulationParameters costly{.simple = {.step_us = 100}};
  EXPECT_NEAR(seconds_of(line_flows(1, 0), costly, 3), 210e-6, 1e-8);
  EXPECT_NEAR(seconds_of(line_flows(2, 3), costly, 3), 210e-6, 1e-8);
}

TEST(FlowsTimes, ADemandHasASizeOfItsOwn) {
  Json flows = {{"format", "forestcoll-flows"},
                {"version", 1},
                {"collective", "alltoallv"},
                {"k", 1},
                {"algbw", {{"exact", "10"}}},
                {"rounds", 1},
                {"own_bytes", 3},
                {"ranks", {"a", "b", "c"}},
                {"pairs", Json::array({timed_pair({"a", "b"}, {0}), timed_pair({"c", "b"}, {0})})}};
  flows["pairs"][0]["bytes"] = 20;
  flows["pairs"][1]["bytes"] = 7;
  flows["algbw"]["exact"] = "5";
  const auto simulator = prepare_simulation(flows.dump(), "flows.json", late_line());
  ASSERT_TRUE(simulator) << to_string(simulator.errors().front());
  EXPECT_EQ(simulator->own_bytes(), 10);
  // Of 10 bytes a rank on average, 20 go from a to b: of 10^9, 2·10^9.
  EXPECT_NEAR(seconds_of(flows, {}, 1'000'000'000), 0.2 + 5e-6, 1e-9);
  const auto equal = prepare_simulation(line_flows(1, 0).dump(), "flows.json", late_line());
  ASSERT_TRUE(equal);
  EXPECT_EQ(equal->own_bytes(), std::nullopt);
}

class FlowsOfFabric : public ::testing::TestWithParam<std::string> {};

// No algorithm is faster than its links, and none is so slow that links were idle most of the time.
TEST_P(FlowsOfFabric, AreNotFasterThanTheirLinks) {
  const auto parsed = parse_topology(test::bundled_text(GetParam()), GetParam());
  ASSERT_TRUE(parsed);
  const auto fabric = make_fabric(parsed->topology);
  ASSERT_TRUE(fabric);
  std::vector<std::string> names = {""};
  for (const BaselineInfo& info : alltoall_baselines()) {
    if (supports(info, Collective::alltoall)) names.emplace_back(info.name);
  }
  for (const std::string& name : names) {
    CompileOptions options = test::alltoall_as(Format::flows, 1);
    options.paths_of = name;
    const auto made = compile(*fabric, options);
    if (!made) {
      EXPECT_EQ(made.errors().front().code, Code::B02) << name;
      continue;
    }
    ASSERT_TRUE(made->verdict.ok) << name << to_string(made->verdict.findings.front());
    const auto simulator = prepare_simulation(made->text, name, fabric->topology);
    ASSERT_TRUE(simulator) << name;
    const auto simulation = simulator->run({1 << 30}, {}, {.tolerance = 0});
    ASSERT_TRUE(simulation) << name;
    EXPECT_LE(simulation->times[0].algbw, test::algbw_of(*made).to_double() * (1 + 1e-9)) << name;
    EXPECT_GE(simulation->times[0].algbw, test::algbw_of(*made).to_double() / 5) << name;
  }
}

std::string fabric_word(const ::testing::TestParamInfo<std::string>& test) {
  std::string name = test.param;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
}

INSTANTIATE_TEST_SUITE_P(Bundled, FlowsOfFabric,
                         ::testing::Values("dgx-1-v100", "dgx-a100-x2", "dgx-a100-x2-degraded",
                                           "hypercube-16", "torus-4x4"),
                         fabric_word);
INSTANTIATE_TEST_SUITE_P(BundledLong, FlowsOfFabric,
                         ::testing::Values("dgx-h100-x4-rail-2to1", "fat-tree-4", "mi250-x2",
                                           "mixed-a100-h100"),
                         fabric_word);

}  // namespace
}  // namespace forestcoll::testing
