// Large messages are extrapolated: as if every pass had been simulated, and never faster than the
// links.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "simulate/bundled_fabrics.hpp"

namespace audit_test {
namespace {

using forestcoll::Collective;

struct SteadyCase {
  const char* fabric;
  const char* algorithm;
  Collective collective;
  const char* gpu;
  int passes;
};

struct SteadySchedule {
  Topology topology;
  std::string xml;
  forestcoll::SimulationParameters parameters;
  std::int64_t pass = 0;  // bytes
};

class SimulateSteady : public ::testing::TestWithParam<SteadyCase> {
 protected:
  static SteadySchedule schedule() {
    const SteadyCase& given = GetParam();
    Topology topology = bundled_topology(given.fabric);
    const auto forest = forest_by(given.algorithm, topology, given.collective);
    EXPECT_TRUE(forest) << given.algorithm;
    std::string xml = forest ? xml_of(*forest, topology) : "nchunksperloop=\"1\"";
    const auto chunks = std::stoll(xml.substr(xml.find("nchunksperloop=\"") + 16));
    return {std::move(topology), std::move(xml), *forestcoll::find_simulation_parameters(given.gpu),
            chunks * 2 * (std::int64_t{1} << 20)};
  }
};

TEST_P(SimulateSteady, IsWhatEveryPassTakes) {
  const auto [topology, xml, parameters, pass] = schedule();
  const std::int64_t size = GetParam().passes * pass;
  SimulationOptions all;
  all.every_pass = true;
  const double whole = seconds_for(xml, topology, size, parameters, all);
  const auto quick = simulated(xml, topology, {size, 64 * size}, parameters);
  ASSERT_EQ(quick.times.size(), 2U);
  EXPECT_NEAR(quick.times[0].seconds, whole, 0.01 * whole);
  for (const auto& link : quick.links) EXPECT_LE(link.busy, 1) << link.src << " " << link.dst;
  // Neither does the order of sizes, nor what is known already, nor a limit that is not reached,
  // change anything.
  const auto downwards = simulated(xml, topology, {64 * size, size}, parameters);
  ASSERT_EQ(downwards.times.size(), 2U);
  EXPECT_EQ(downwards.times[0].seconds, quick.times[1].seconds);
  EXPECT_EQ(downwards.times[1].seconds, quick.times[0].seconds);
  const double taken = quick.times[1].seconds;
  forestcoll::KnownRuns known;
  SimulationOptions limited;
  limited.known = &known;
  limited.most_seconds = 1.001 * taken;
  EXPECT_EQ(seconds_for(xml, topology, 64 * size, parameters, limited), taken);
  EXPECT_EQ(seconds_for(xml, topology, 64 * size, parameters, limited), taken);
  EXPECT_FALSE(known.by_bytes.empty());
  limited.most_seconds = 0.6 * taken;
  EXPECT_TRUE(std::isinf(seconds_for(xml, topology, 64 * size, parameters, limited)));
}

// Near what all passes take, whatever is known before, at a part of the cost.
TEST_P(SimulateSteady, IsToldByFewPasses) {
  const auto [topology, xml, parameters, pass] = schedule();
  const auto whole = simulated(xml, topology, {32 * pass}, parameters);
  forestcoll::KnownRuns known;
  SimulationOptions few;
  few.few_passes = 8;
  few.known = &known;
  const auto told = simulated(xml, topology, {32 * pass}, parameters, few);
  EXPECT_TRUE(told.times[0].is_estimate);
  EXPECT_LT(2 * told.events, whole.events);
  const double seconds = whole.times[0].seconds;
  // Less, where passes hold each other up once there are many.
  EXPECT_LT(told.times[0].seconds, 1.05 * seconds);
  EXPECT_GT(told.times[0].seconds, 0.8 * seconds);
  // Also where all of it is known.
  SimulationOptions all;
  all.known = &known;
  EXPECT_EQ(seconds_for(xml, topology, 32 * pass, parameters, all), seconds);
  EXPECT_EQ(seconds_for(xml, topology, 32 * pass, parameters, few), told.times[0].seconds);
  few.most_seconds = 0.6 * seconds;
  EXPECT_TRUE(std::isinf(seconds_for(xml, topology, 32 * pass, parameters, few)));
  // Of few passes all are simulated.
  few.most_seconds = std::numeric_limits<double>::infinity();
  const auto short_one = simulated(xml, topology, {16 * pass}, parameters, few);
  EXPECT_FALSE(short_one.times[0].is_estimate);
  EXPECT_EQ(short_one.times[0].seconds, seconds_for(xml, topology, 16 * pass, parameters, {}));
}

forestcoll::Expected<forestcoll::Simulator> prepared(const char* algorithm,
                                                     const Topology& topology,
                                                     Collective collective) {
  const auto forest = forest_by(algorithm, topology, collective);
  EXPECT_TRUE(forest) << algorithm;
  return prepare_simulation(xml_of(*forest, topology), "x.xml", topology);
}

// What a run will have is known before its graph is made, so that one that is too large never is.
TEST(SimulateOperations, AreCountedAsTheyAreRun) {
  const auto simulator =
      prepared("multitree", bundled_topology("torus-4x4"), Collective::allreduce);
  ASSERT_TRUE(simulator);
  SimulationOptions all;
  all.every_pass = true;
  for (const char* gpu : {"ideal", "a100"}) {
    const auto parameters = *forestcoll::find_simulation_parameters(gpu);
    for (const std::int64_t size : {std::int64_t{1} << 12, std::int64_t{48} << 20}) {
      const auto run = simulator->run({size}, parameters, all);
      ASSERT_TRUE(run);
      const auto count = static_cast<double>(run->events);
      EXPECT_EQ(simulator->operations(size, parameters), count) << gpu << " " << size;
      SimulationOptions too_few = all;
      too_few.max_events = run->events - 1;
      EXPECT_FALSE(simulator->run({size}, parameters, too_few)) << gpu << " " << size;
    }
  }
}

// At full efficiency, what the busiest link is busy with.
TEST(SimulateOperations, BusiestLinkIsKnown) {
  const auto simulator =
      prepared("forestcoll", bundled_topology("dgx-a100-x2-degraded"), Collective::allgather);
  ASSERT_TRUE(simulator);
  constexpr std::int64_t kSize = std::int64_t{64} << 20;
  const auto run = simulator->run({kSize}, *forestcoll::find_simulation_parameters("ideal"));
  ASSERT_TRUE(run);
  double busiest = 0;
  for (const auto& link : run->links) busiest = std::max(busiest, link.busy);
  EXPECT_NEAR(simulator->link_seconds() * kSize, busiest * run->times.front().seconds,
              1e-9 * run->times.front().seconds);
}

// No limit that is above the time of one that is not extrapolated gives it up, and those that are
// given up are early: what is left to do is known.
TEST(SimulateMost, LooksAhead) {
  const Topology topology = bundled_topology("torus-4x4");
  const auto forest = forest_by("multitree", topology, Collective::allreduce);
  ASSERT_TRUE(forest);
  const std::string xml = xml_of(*forest, topology);
  const auto parameters = *forestcoll::find_simulation_parameters("ideal");
  const auto at = [&](double most) {
    SimulationOptions options;
    options.most_seconds = most;
    return simulated(xml, topology, {1 << 28}, parameters, options);
  };
  const auto whole = at(std::numeric_limits<double>::infinity());
  const double taken = whole.times[0].seconds;
  EXPECT_EQ(at(taken).times[0].seconds, taken);
  const auto late = at(0.8 * taken);
  EXPECT_TRUE(std::isinf(late.times[0].seconds));
  EXPECT_LT(late.events, whole.events * 3 / 4);
}

std::string steady_name(const ::testing::TestParamInfo<SteadyCase>& test) {
  std::string name = fmt::format("{}_{}_{}_{}", test.param.fabric, test.param.algorithm,
                                 forestcoll::to_string(test.param.collective), test.param.gpu);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

// The first passes fill gaps that schedules leave at the beginning; they may do so for long, and
// by as much each time.
INSTANTIATE_TEST_SUITE_P(
    BundledFabrics, SimulateSteady,
    ::testing::Values(SteadyCase{"dgx-a100-x2", "double-tree", Collective::allreduce, "ideal", 160},
                      SteadyCase{"dgx-a100-x2", "hierarchical", Collective::allgather, "a100", 300},
                      SteadyCase{"torus-4x4", "multitree", Collective::allreduce, "ideal", 200}),
    steady_name);
INSTANTIATE_TEST_SUITE_P(
    BundledFabricsLong, SimulateSteady,
    ::testing::Values(SteadyCase{"dgx-a100-x2", "forestcoll", Collective::allgather, "ideal", 160},
                      SteadyCase{"dgx-a100-x2", "forestcoll", Collective::allgather, "a100", 160},
                      SteadyCase{"dgx-a100-x2", "double-tree", Collective::allreduce, "a100", 160},
                      SteadyCase{"dgx-a100-x2", "hierarchical", Collective::allreduce, "a100", 300},
                      SteadyCase{"dgx-h100-x4-rail", "greedy", Collective::allgather, "ideal", 100},
                      SteadyCase{"mi250-x1", "nccl-ring", Collective::allreduce, "mi250", 40}),
    steady_name);
// Never steady, and taken to be so once a million operations say about the same.
INSTANTIATE_TEST_SUITE_P(UnsteadyLongest, SimulateSteady,
                         ::testing::Values(SteadyCase{"dragonfly-72", "double-tree",
                                                      Collective::allreduce, "a100", 160}),
                         steady_name);

}  // namespace
}  // namespace audit_test
