// Threadblocks that are simulated once for all of their class, beside each by itself.
#include "simulate/sources/program_classes.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "audit/common/findings.hpp"
#include "choose/schedule_program.hpp"
#include "simulate/bundled_fabrics.hpp"
#include "simulate/run/classes.hpp"
#include "simulate/run/event_run.hpp"
#include "simulate/sources/program_graph.hpp"

namespace audit_test {
namespace {

using forestcoll::Collective;
using forestcoll::CollectiveForest;
using forestcoll::Rank;
using forestcoll::audit::Findings;
using forestcoll::audit::Program;
using forestcoll::audit::StepGraph;
using forestcoll::simulate::ClassGraph;
using forestcoll::simulate::Fabric;
using forestcoll::simulate::FlowClasses;
using forestcoll::simulate::GraphMaker;

// A program as the simulator reads it.
struct Prepared {
  Program program;
  StepGraph steps;
  Fabric fabric;
  std::vector<std::int32_t> routes;

  Prepared(Program of, const Topology& topology)
      : program(std::move(of)), fabric(*Fabric::make(topology)) {
    Findings findings("test");
    steps = build_step_graph(program, findings);
    for (const StepGraph::Block& block : steps.blocks) {
      routes.push_back(-1);
      if (block.sends_to < 0) continue;
      const auto& other = steps.blocks[static_cast<std::size_t>(block.sends_to)];
      routes.back() = fabric.between(Rank(block.rank), Rank(other.rank), findings);
    }
    EXPECT_EQ(findings.count(), 0U);
  }

  [[nodiscard]] ClassGraph graph(const FlowClasses& classes, double bytes) const {
    const SimulationParameters parameters;
    return program_graph(steps, routes, classes, GraphMaker(fabric, parameters, parameters.simple),
                         bytes / static_cast<double>(program.chunks));
  }
};

double seconds_of(const ClassGraph& graph) {
  const auto run = run_events(graph.graph, graph.capacity, {});
  EXPECT_TRUE(run.complete);
  return run.seconds;
}

// Of all sizes alike; how many threadblocks there are for one that is simulated.
double expect_same_times(const CollectiveForest& forest, const Topology& topology,
                         std::int32_t instances, const std::string& what) {
  forestcoll::LowerOptions options;
  options.instances = instances;
  const auto schedule = lower(forest, options);
  if (!schedule) return 1;
  const Prepared prepared(forestcoll::choose::program_of(*schedule), topology);
  const FlowClasses each = each_by_itself(prepared.routes, prepared.fabric);
  const FlowClasses classes = program_classes(prepared.steps, prepared.routes, prepared.fabric);
  for (const double bytes : {1024.0, 3e6, 1e9}) {
    const ClassGraph whole = prepared.graph(each, bytes);
    const ClassGraph few = prepared.graph(classes, bytes);
    const double seconds = seconds_of(whole);
    EXPECT_NEAR(seconds_of(few), seconds, 1e-9 * seconds) << what << ", " << bytes;
    // As few as are found when activities are compared, where that is worth a graph.
    const auto coarsest = class_graph(whole.graph, whole.capacity);
    if (!coarsest) continue;
    EXPECT_LE(coarsest->graph.activities.size(), few.graph.activities.size()) << what;
    EXPECT_LE(few.graph.activities.size(), whole.graph.activities.size()) << what;
  }
  return static_cast<double>(each.first.size()) / static_cast<double>(classes.first.size());
}

TEST(ProgramClassesLong, TakeAsLongAsTheWholeProgram) {
  for (const char* name : {"dgx-a100-x2", "torus-4x4", "mi250-x1", "dgx-1-v100",
                           "dgx-a100-x2-degraded", "mixed-a100-h100"}) {
    const Topology topology = bundled_topology(name);
    for (const Collective collective : {Collective::allgather, Collective::allreduce}) {
      const auto forest =
          forest_on(topology, collective, {forestcoll::TreesPerRoot::Mode::fixed, 2});
      for (const std::int32_t instances : {1, 2}) {
        expect_same_times(forest, topology, instances, name);
      }
    }
  }
}

TEST(ProgramClasses, AreFewWhereAllGpusAreAlike) {
  const Topology star = star_fabric(8);
  const auto forest =
      forest_on(star, Collective::allgather, {forestcoll::TreesPerRoot::Mode::fixed, 1});
  EXPECT_GE(expect_same_times(forest, star, 1, "star"), 8);
}

TEST(ProgramClasses, ASlowLinkTellsItsUsersApart) {
  Topology star = star_fabric(8);
  const auto forest =
      forest_on(star, Collective::allgather, {forestcoll::TreesPerRoot::Mode::fixed, 1});
  const double alike = expect_same_times(forest, star, 1, "star");
  star.links[forestcoll::LinkId(3)].bandwidth = 5;
  EXPECT_LT(expect_same_times(forest, star, 1, "one slow link"), alike);
  star.links[forestcoll::LinkId(3)].bandwidth = 10;
  star.links[forestcoll::LinkId(5)].latency = 7;
  EXPECT_LT(expect_same_times(forest, star, 1, "one long link"), alike);
}

TEST(ProgramClasses, OfRandomFabrics) {
  std::mt19937 random(5);
  for (int round = 0; round < 60; ++round) {
    const int gpus = 3 + static_cast<int>(random() % 4);
    std::vector<Cable> cables;
    for (int g = 0; g < gpus; ++g) {
      cables.push_back({g, (g + 1) % gpus, 10 * (1 + static_cast<int>(random() % 2)),
                        static_cast<int>(random() % 2)});
    }
    const Topology ring = fabric(gpus, 0, cables);
    const auto collective = random() % 2 == 0 ? Collective::allgather : Collective::allreduce;
    const auto forest = forest_on(ring, collective, {forestcoll::TreesPerRoot::Mode::fixed, 2});
    expect_same_times(forest, ring, 1, fmt::format("round {}", round));
  }
}

}  // namespace
}  // namespace audit_test
