// What is chosen among schedules of an all-to-all: rounds, paths of others, for a size, and where
// there is no time for the best paths.
#include "support/alltoall.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "forestcoll/alltoall_optimum.hpp"
#include "forestcoll/compile.hpp"
#include "forestcoll/simulate.hpp"
#include "solver/alltoall/routes/route_alltoall.hpp"
#include "support/fabrics.hpp"
#include "support/topology_of.hpp"

namespace forestcoll::testing {
namespace {

ParsedDemand blocks(const Fabric& fabric) {
  const auto n = static_cast<std::int64_t>(fabric.network.ranks.size());
  return {Demand::uniform(fabric.network.ranks.size()), n * n};
}

CompileOptions flows(std::optional<std::int64_t> k = {}) {
  return test::alltoall_as(Format::flows, k);
}

CompileOptions flows_for(std::int64_t bytes, std::optional<std::int64_t> k = {}) {
  CompileOptions options = flows(k);
  options.bytes = bytes;
  return options;
}

Compilation compiled(const Fabric& fabric, const CompileOptions& options) {
  auto made = compile(fabric, options);
  EXPECT_TRUE(made) << to_string(made.errors().front());
  EXPECT_TRUE(made->verdict.ok) << to_string(made->verdict.findings.front());
  return *std::move(made);
}

// As few as the busiest link needs, so that waiting for every round costs nothing.
TEST(AlltoallRounds, AreAsFewAsTheBusiestLinkNeeds) {
  struct Known {
    const char* name;
    std::int32_t rounds;
  };
  for (const auto& [name, rounds] :
       {Known{"dgx-a100-x2", 8}, Known{"torus-4x4", 8}, Known{"hypercube-16", 8},
        Known{"dgx-a100-x1", 7}, Known{"dgx-h100-x4-rail", 24}, Known{"fat-tree-4", 15},
        Known{"mi250-x2", 16}}) {
    const Compilation made = compiled(test::bundled_fabric(name), flows(1));
    EXPECT_EQ(made.paths->routes.rounds, rounds) << name;
    EXPECT_EQ(made.paths->algbw_in_rounds, test::algbw_of(made)) << name;
  }
}

// Legs that no other leg can be beside: three blocks over a link of 1, one of which comes over a
// link of 3 first.
TEST(AlltoallRounds, FollowTheDataAndTheLinks) {
  test::FabricBuilder b(3);
  b.arc(0, 1, 3);
  b.arc(1, 2, 1);
  b.arc(2, 0, 3);
  const Network network = b.build();
  AlltoallRoutes routes;
  routes.paths = {{Rank(0), Rank(2), 1, {NodeId(0), NodeId(1), NodeId(2)}},
                  {Rank(1), Rank(2), 1, {NodeId(1), NodeId(2)}},
                  {Rank(1), Rank(0), 1, {NodeId(1), NodeId(2), NodeId(0)}}};
  const auto demand = Demand::matrix(3, {0, 0, 1, 1, 0, 1, 0, 0, 0});
  const auto made = complete_routes(network, demand, routes);
  ASSERT_TRUE(made);
  // Three blocks leave 1; a fourth round takes the last of them on, if it goes to 0.
  EXPECT_EQ(made->rounds, 3);
  EXPECT_EQ(made->rate, Ratio(1, 3) * network.unit);
  EXPECT_EQ(made->rate_in_rounds, made->rate);
  for (const AlltoallPath& path : made->paths) {
    for (std::size_t i = 1; i < path.rounds.size(); ++i) {
      EXPECT_LT(path.rounds[i - 1], path.rounds[i]);
    }
  }
}

// Three parts on one path, or two and one: a round for each is shorter than rounds of all three.
TEST(AlltoallRounds, PartsOfOnePathGoOneByOneWhereThatIsFaster) {
  test::FabricBuilder b(2, 2);
  for (const std::size_t s : {2, 3}) {
    b.link(0, s, static_cast<Capacity>(s == 2 ? 2 : 1));
    b.link(s, 1, static_cast<Capacity>(s == 2 ? 2 : 1));
  }
  const Network network = b.build();
  AlltoallRoutes routes;
  routes.k = 3;
  routes.paths = {{Rank(0), Rank(1), 2, {NodeId(0), NodeId(2), NodeId(1)}},
                  {Rank(0), Rank(1), 1, {NodeId(0), NodeId(3), NodeId(1)}},
                  {Rank(1), Rank(0), 3, {NodeId(1), NodeId(2), NodeId(0)}}};
  const auto made = complete_routes(network, Demand::uniform(2), routes);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->rate_in_rounds, made->rate);
  std::int64_t parts = 0;
  for (const AlltoallPath& path : made->paths) parts += path.parts;
  EXPECT_EQ(parts, 6);
}

// Twice as many parts can do what half as many do, in rounds too.
TEST(AlltoallRoundsLong, TwiceAsManyPartsLeaveNoLess) {
  for (const std::string name : {"fat-tree-4", "mi250-x1", "dgx-a100-x2-degraded"}) {
    const Fabric fabric = test::bundled_fabric(name);
    const auto optimum = alltoall_optimum(fabric.network, blocks(fabric).demand);
    ASSERT_TRUE(optimum);
    std::pair<Ratio, Ratio> known(Ratio(0), Ratio(0));
    for (const std::int64_t k : {1, 2, 4, 8}) {
      const auto made =
          route_alltoall(fabric.network, blocks(fabric).demand, optimum->proof.at_most, {.k = k});
      ASSERT_TRUE(made);
      EXPECT_EQ(made->k, k);
      const std::pair rates(made->rate, made->rate_in_rounds);
      EXPECT_GE(rates, known) << name << " " << k;
      known = rates;
    }
  }
}

double simulated_seconds(const Compilation& made, const Fabric& fabric, std::int64_t bytes) {
  const auto simulator = prepare_simulation(made.text, "flows", fabric.topology);
  EXPECT_TRUE(simulator);
  const auto simulation =
      simulator->run({bytes}, *find_simulation_parameters(fabric.gpu.name), {.threads = 1});
  EXPECT_TRUE(simulation);
  return simulation->times.front().seconds;
}

// For a size, never slower than what is made without one; for small ones, faster where rounds cost
// more than what they carry.
TEST(AlltoallChoicesLong, AreTheFastestForTheSize) {
  for (const std::string name : {"dgx-h100-x4-rail-2to1", "mi250-x2", "dgx-1-v100"}) {
    const Fabric fabric = test::bundled_fabric(name);
    const Compilation any = compiled(fabric, flows());
    EXPECT_EQ(any.paths->seconds_at_bytes, std::nullopt);
    for (const std::int64_t bytes : {16 << 10, 1 << 30}) {
      const Compilation made = compiled(fabric, flows_for(bytes));
      const double seconds = simulated_seconds(any, fabric, bytes);
      ASSERT_TRUE(made.paths->seconds_at_bytes);
      EXPECT_DOUBLE_EQ(*made.paths->seconds_at_bytes, simulated_seconds(made, fabric, bytes));
      EXPECT_LE(*made.paths->seconds_at_bytes, seconds);
      if (bytes < (1 << 20)) {
        EXPECT_LT(*made.paths->seconds_at_bytes, seconds * 0.8) << name;
        EXPECT_TRUE(made.paths->combined || !made.paths->stops.empty());
        EXPECT_LT(made.paths->routes.rounds, any.paths->routes.rounds);
      }
    }
  }
}

// All that competes, made once: no two are the same, and among them is what is made for any size.
TEST(AlltoallChoices, AreAmongAllThatCompete) {
  const Fabric fabric = test::bundled_fabric("dgx-a100-x2");
  const CompileOptions options = flows(1);
  const auto all = compile_alltoalls(fabric, options);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->front().text, compiled(fabric, options).text);
  EXPECT_GT(all->front().paths->proof.at_most, Ratio(0));
  std::set<std::string> texts;
  for (const Compilation& each : *all) {
    EXPECT_TRUE(each.verdict.ok);
    EXPECT_TRUE(texts.insert(each.text).second);
  }
  EXPECT_GT(texts.size(), 4U);
  for (const std::int64_t bytes : {4 << 10, 1 << 20, 1 << 28}) {
    double least = 1;
    for (const auto& each : *all) least = std::min(least, simulated_seconds(each, fabric, bytes));
    const Compilation made = compiled(fabric, flows_for(bytes, 1));
    EXPECT_DOUBLE_EQ(*made.paths->seconds_at_bytes, least) << bytes;
  }
}

// Amounts that are equal after all are an all-to-all, and XML can say so.
TEST(AlltoallChoices, EqualDemandsAreXml) {
  const Fabric fabric = test::bundled_fabric("dgx-a100-x1");
  std::vector<std::int64_t> amounts(64, 4096);
  const auto of_amounts = [&] {
    CompileOptions options = test::alltoall_as(Format::msccl);
    options.demand = ParsedDemand{Demand::matrix(8, amounts), 64 * 4096};
    return compile(fabric, options);
  };
  const auto made = of_amounts();
  ASSERT_TRUE(made);
  EXPECT_TRUE(made->verdict.ok);
  EXPECT_EQ(test::algbw_of(*made), Ratio(2400, 7));
  amounts[1] = 4097;
  const auto refused = of_amounts();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.errors().front().code, Code::T09);
}

// What has paths has no trees, and the other way round; and no number of parts is the optimum's.
TEST(AlltoallChoices, TreesAndPathsAreNotMistaken) {
  const Fabric fabric = test::bundled_fabric("dgx-a100-x1");
  const auto code_of = [&](const CompileOptions& options) {
    const auto made = compile(fabric, options);
    return made ? std::nullopt : made.errors().front().code;
  };
  EXPECT_EQ(code_of(test::alltoall_as(Format::forest)), Code::S04);
  EXPECT_EQ(code_of(test::alltoall_as(Format::dot)), Code::S04);
  EXPECT_EQ(code_of({.format = Format::flows}), Code::S04);
  CompileOptions options = flows(1);
  options.synthesis.trees_per_root = {};
  EXPECT_EQ(code_of(options), Code::S03);
}

// Parts that go the same way in the same rounds are one path, whatever rounds they were tried in.
TEST(AlltoallChoicesLong, APathIsNamedOnce) {
  int joined = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Network network = test::random_fabric(seed, {.max_compute = 6, .max_switches = 2});
    const std::size_t ranks = network.ranks.size();
    const auto routes = route_alltoall(network, Demand::uniform(ranks), network.unit, {.k = 8});
    ASSERT_TRUE(routes) << seed;
    std::set<std::pair<std::vector<NodeId>, std::vector<std::int32_t>>> known;
    std::int64_t parts = 0;
    for (const AlltoallPath& path : routes->paths) {
      EXPECT_TRUE(known.emplace(path.nodes, path.rounds).second) << seed;
      parts += path.parts;
      joined += path.parts > 1 ? 1 : 0;
    }
    EXPECT_EQ(parts, static_cast<std::int64_t>(8 * ranks * (ranks - 1))) << seed;
  }
  EXPECT_GT(joined, 0);
}

// 300 GPUs on a switch have more pairs than there is time to search a path for one by one.
TEST(AlltoallChoices, ManyPairsBeginOnTrees) {
  test::FabricBuilder b(300, 1);
  for (std::size_t gpu = 0; gpu < 300; ++gpu) b.link(gpu, 300, 1);
  const Network network = b.build();
  const auto routes =
      route_alltoall(network, Demand::uniform(300), Ratio(1, 299) * network.unit, {});
  ASSERT_TRUE(routes);
  EXPECT_EQ(routes->paths.size(), 300U * 299);
  EXPECT_EQ(routes->rate, Ratio(1, 299) * network.unit);
}

TEST(AlltoallChoices, AStopLeavesAPathForEveryPair) {
  const Fabric fabric = test::bundled_fabric("dragonfly-72");
  std::stop_source stop;
  stop.request_stop();
  const auto routes = route_alltoall(fabric.network, Demand::uniform(72), Ratio(1),
                                     {.k = 1, .stop = stop.get_token()});
  ASSERT_TRUE(routes);
  EXPECT_EQ(routes->paths.size(), 72U * 71);
  EXPECT_GT(routes->rate, Ratio(0));
}

}  // namespace
}  // namespace forestcoll::testing
