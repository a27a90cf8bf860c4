// The simulator on real fabrics: large messages reach what the congestion model says, small ones
// take their latencies, whatever the form in which the schedule comes.
#include <gmock/gmock.h>

#include "forestcoll/verify.hpp"
#include "schedule/mscclpp/plan.hpp"
#include "simulate/bundled_fabrics.hpp"

namespace audit_test {
namespace {

using forestcoll::Collective;
using forestcoll::CollectiveForest;

constexpr forestcoll::TreesPerRoot kOneTree = {forestcoll::TreesPerRoot::Mode::fixed, 1};

std::string xml_by_trees(const CollectiveForest& forest, const Topology& topology) {
  forestcoll::LowerOptions options;
  options.threadblocks = forestcoll::ThreadblockUse::per_tree;
  return xml_of(forest, topology, options);
}

std::string plan_of(const CollectiveForest& forest, const Topology& topology) {
  std::map<std::string, std::int32_t> boxes;
  forestcoll::IdVector<forestcoll::Rank, std::int32_t> box_of;
  for (const NodeId rank : topology.ranks) {
    const auto next = static_cast<std::int32_t>(boxes.size());
    box_of.push_back(boxes.emplace(topology.nodes[rank].box, next).first->second);
  }
  const auto plan = forestcoll::lower_to_plan(forest, box_of, {});
  EXPECT_TRUE(plan) << to_string(plan.errors()[0]);
  return to_mscclpp_json(*plan, "test");
}

// What the busiest link allows, both phases of an allreduce at once.
double congestion(const std::string& schedule, const Topology& topology) {
  const auto verdict = forestcoll::verify(schedule, "schedule", &topology, {});
  EXPECT_TRUE(verdict && !verdict->loads.empty());
  double slowest = 0;
  for (const auto& link : verdict->loads) {
    slowest = std::max(slowest, link.load.to_double() / link.bandwidth.to_double());
  }
  return 1 / slowest;
}

void expect_congestion(const std::string& schedule, const Topology& topology,
                       const std::string& what, const SimulationParameters& parameters = {}) {
  const auto simulation = simulated(schedule, topology, {std::int64_t{1} << 38}, parameters);
  ASSERT_EQ(simulation.times.size(), 1U) << what;
  const double allowed = congestion(schedule, topology);
  EXPECT_NEAR(simulation.times[0].algbw, allowed, 0.01 * allowed)
      << what << ", " << simulation.collective << ", " << parameters.name;
}

struct ForestsCase {
  const char* fabric;
  std::vector<const char*> algorithms;
};

class SimulateForests : public ::testing::TestWithParam<ForestsCase> {};

// Whatever steps and messages cost: they are done while pieces are on their way.
TEST_P(SimulateForests, ReachTheCongestionModel) {
  const Topology topology = bundled_topology(GetParam().fabric);
  for (const char* algorithm : GetParam().algorithms) {
    for (const auto collective : {Collective::allgather, Collective::allreduce}) {
      if (collective != Collective::allreduce && algorithm == std::string("double-tree")) continue;
      const auto forest = forest_by(algorithm, topology, collective);
      ASSERT_TRUE(forest) << algorithm;
      const auto json = to_forest_json(*forest, topology);
      for (const char* gpu : {"a100", "ideal"}) {
        expect_congestion(json, topology, algorithm, *forestcoll::find_simulation_parameters(gpu));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    BundledFabrics, SimulateForests,
    ::testing::Values(
        ForestsCase{"dgx-1-v100", {"forestcoll", "nccl-ring", "double-tree", "multitree", "bfb"}},
        ForestsCase{"dgx-a100-x1", {"forestcoll", "nccl-ring", "double-tree", "multitree", "bfb"}},
        ForestsCase{"dgx-a100-x2", {"forestcoll", "double-tree", "hierarchical"}},
        ForestsCase{"dgx-a100-x2-degraded", {"double-tree", "greedy"}},
        ForestsCase{"fat-tree-4", {"forestcoll"}}, ForestsCase{"hypercube-16", {"forestcoll"}},
        ForestsCase{"mi250-x1", {"multitree"}}, ForestsCase{"mixed-a100-h100", {"double-tree"}},
        ForestsCase{"torus-4x4", {"forestcoll", "greedy"}}),
    [](const auto& test) {
      std::string name = test.param.fabric;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

TEST(SimulateFabrics, ImagesAreTreesLikeOthers) {
  const Topology topology = bundled_topology("torus-4x4");
  const auto forest = forest_on(topology, Collective::allreduce);
  const auto spelt_out = to_forest_json(forest, topology);
  const auto symmetric = to_symmetric_forest_json(forest, topology);
  ASSERT_NE(symmetric.find("\"images\":true"), std::string::npos);
  for (const std::int64_t size : {std::int64_t{1000}, std::int64_t{1} << 28}) {
    const double expected = seconds_for(spelt_out, topology, size);
    EXPECT_NEAR(seconds_for(symmetric, topology, size), expected, 1e-3 * expected);
  }
}

TEST(SimulateFabrics, ProgramsWithAThreadblockForEachEdgeReachItToo) {
  for (const char* name : {"dgx-a100-x1", "dgx-a100-x2", "mi250-x1", "torus-4x4", "dgx-1-v100"}) {
    const Topology topology = bundled_topology(name);
    for (const auto collective :
         {Collective::allgather, Collective::reduce_scatter, Collective::allreduce}) {
      const auto xml = xml_by_trees(forest_on(topology, collective, kOneTree), topology);
      expect_congestion(xml, topology, name);
    }
  }
}

// The rounds of a plan's pipelines follow each other along a chain, by threads or by proxies. As in
// MSCCL++'s executor, a round is of so many bytes of all chunks that an operation moves.
TEST(SimulateFabrics, PlansSendRoundAfterRound) {
  for (const auto& [boxes, chunks] :
       std::vector<std::pair<bool, int>>{{false, 1}, {true, 1}, {false, 4}, {true, 4}}) {
    Topology topology = row_fabric(4);
    for (const NodeId rank : topology.ranks) {
      if (boxes) topology.nodes[rank].box = topology.nodes[rank].id;
    }
    forestcoll::SynthesizeOptions options;
    options.collective = Collective::broadcast;
    options.root = forestcoll::Rank(0);
    const auto forest = forestcoll::synthesize(*to_digraph(topology), options);
    ASSERT_TRUE(forest);
    CollectiveForest wide = forest->forest;
    wide.k *= chunks;
    wide.broadcast = wide.broadcast->scaled(chunks);
    const auto plan = plan_of(wide, topology);
    EXPECT_EQ(plan.find("\"port\"") != std::string::npos, boxes);
    EXPECT_NE(plan.find("\"num_chunks\":" + std::to_string(chunks)), std::string::npos);
    SimulationParameters parameters;
    parameters.hop_us = 5;
    const auto unit = forestcoll::PlanShape{}.unit_bytes;
    for (const int rounds : {1, 3, 200}) {
      const double seconds = seconds_for(plan, topology, rounds * unit, parameters);
      // Everyone says first that it is ready and, to a proxy, that it is done.
      const double expected = (boxes ? 10e-6 : 5e-6) + (rounds + 2.0) * unit / 10e9 + 3 * 5e-6;
      EXPECT_NEAR(seconds, expected, 0.01 * expected)
          << rounds << " rounds, " << boxes << ", of chunks " << chunks;
    }
  }
}

// A threadblock puts to one peer after the other, and goes round again when it is through.
TEST(SimulateFabrics, PlansPutToOnePeerAfterTheOther) {
  const Topology topology = row_fabric(3);
  forestcoll::SynthesizeOptions options;
  options.collective = Collective::broadcast;
  options.root = forestcoll::Rank(1);
  const auto forest = forestcoll::synthesize(*to_digraph(topology), options);
  ASSERT_TRUE(forest);
  const auto plan = plan_of(forest->forest, topology);
  const int rounds = 10;
  const double expected = 2.0 * rounds * (1 << 20) / 10e9;
  EXPECT_NEAR(seconds_for(plan, topology, rounds << 20), expected, 0.01 * expected);
}

TEST(SimulateFabrics, PlansSumWhatTheyReceive) {
  const Topology topology = star_fabric(2);
  const auto plan = plan_of(forest_on(topology, Collective::allreduce), topology);
  SimulationParameters parameters;
  parameters.simple.pass_bytes = 1;  // plans have rounds of their own
  const std::int64_t size = std::int64_t{1} << 31;
  const double ideal = seconds_for(plan, topology, size, parameters);
  const double allowed = static_cast<double>(size) / congestion(plan, topology) / 1e9;
  EXPECT_GE(ideal, 0.995 * allowed);
  parameters.simple.threadblock_gbs = 1;  // each half is sent at that rate, twice
  EXPECT_GE(seconds_for(plan, topology, size, parameters), 0.99 * static_cast<double>(size) / 2e9);
  parameters.simple.threadblock_gbs = 1000;
  parameters.simple.reduction_gbs = 0.5;
  EXPECT_GE(seconds_for(plan, topology, size, parameters), 0.99 * static_cast<double>(size) / 1e9);
}

TEST(SimulateFabrics, SmallMessagesTakeTheHeightOfTheTrees) {
  const Topology topology = bundled_topology("dgx-a100-x2");
  const auto forest = forest_on(topology, Collective::allgather);
  SimulationParameters parameters;
  parameters.simple.message_us = 100;  // beside it, links of a few µs at most do not count
  parameters.simple.network_message_us = 100;
  const double hops = seconds_for(to_forest_json(forest, topology), topology, 1, parameters);
  EXPECT_NEAR(hops, 2 * 100e-6, 0.05 * 200e-6);  // height 2
  parameters.simple = {.step_us = 50, .message_us = 100, .network_message_us = 100};
  const double steps = seconds_for(to_forest_json(forest, topology), topology, 1, parameters);
  EXPECT_NEAR(steps, 2 * 150e-6, 0.05 * 300e-6);
  const auto reduce = forest_on(topology, Collective::allreduce);
  const double both = seconds_for(to_forest_json(reduce, topology), topology, 1, parameters);
  EXPECT_NEAR(both, 4 * 150e-6, 0.05 * 600e-6);  // up and down
}

TEST(SimulateFabrics, MergedThreadblocksAreNoFaster) {
  const Topology topology = bundled_topology("dgx-a100-x2");
  const auto forest = forest_on(topology, Collective::allgather, kOneTree);
  forestcoll::LowerOptions options;
  options.threadblocks = forestcoll::ThreadblockUse::merge;
  const auto text = xml_of(forest, topology, options);
  for (const std::int64_t size : {std::int64_t{1} << 20, std::int64_t{1} << 30}) {
    EXPECT_GE(seconds_for(text, topology, size) * 1.001,
              seconds_for(xml_by_trees(forest, topology), topology, size));
  }
}

// Many GPUs: few events, and no slower than its links allow.
TEST(SimulateFabricsLong, ManyGpusAreSimulatedQuickly) {
  const int n = 128;
  const auto stars = forest_json("allgather", n, 1, rotated(star_parents(n), "s0")).dump();
  const auto simulation = simulated(stars, star_fabric(n, 100), {1 << 20, std::int64_t{1} << 36});
  ASSERT_EQ(simulation.times.size(), 2U);
  EXPECT_NEAR(simulation.times[1].busbw, 100, 1);
  EXPECT_LE(simulation.events, 64 * n * (n - 1));
}

}  // namespace
}  // namespace audit_test
