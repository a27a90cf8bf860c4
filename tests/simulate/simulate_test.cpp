// The simulator beside what can be worked out by hand.
#include <gmock/gmock.h>

#include <cmath>

#include "audit/plan/shared_builders.hpp"
#include "forestcoll/verify.hpp"
#include "simulate/simulate_testing.hpp"

namespace audit_test {
namespace {

// Within a hundredth.
void expect_close(double value, double expected, const std::string& what = {}) {
  EXPECT_NEAR(value, expected, 0.01 * expected) << what;
}

// Everything costs something, in numbers that are easy to tell apart.
SimulationParameters costly() {
  SimulationParameters parameters;
  parameters.hop_us = 0.25;
  parameters.simple.step_us = 3;
  parameters.simple.message_us = 7;
  parameters.simple.threadblock_gbs = 8;
  parameters.simple.reduction_gbs = 5;
  return parameters;
}

TEST(SimulateRing, SmallOnesTakeTheirSteps) {
  for (const int n : {2, 3, 8}) {
    const auto ring = to_xml(ring_allgather(n, 1, true, true));
    // n − 1 messages over two hops of 1 µs each, every one sent by a step; the last is received.
    const double expected = (n - 1) * (3 + 7 + 2 + 2 * 0.25) + 3;
    expect_close(seconds_for(ring, star_fabric(n, 10, 1), n, costly()), expected * 1e-6);
  }
}

TEST(SimulateRing, FlagsAreWaitedFor) {
  for (const int n : {2, 4, 6}) {
    // One threadblock sends, another receives and sets the flag that the next send waits for.
    const auto ring = to_xml(ring_allgather(n, 1, false, true));
    const double expected = (n - 1) * (3 + 7 + 2 + 2 * 0.25 + 3);
    expect_close(seconds_for(ring, star_fabric(n, 10, 1), n, costly()), expected * 1e-6);
  }
}

TEST(SimulateRing, LargeOnesKeepTheirLinksBusy) {
  for (const int n : {2, 4, 7}) {
    const std::int64_t size = 512 * kMiB * n;
    const double bytes = static_cast<double>(size);
    const auto gather = to_xml(ring_allgather(n, 1, true, true));
    expect_close(seconds_for(gather, star_fabric(n), size), bytes * (n - 1) / n / 10e9);
    const auto reduce = to_xml(ring_allreduce(n, 1, 1, true));
    expect_close(seconds_for(reduce, star_fabric(n), size), 2 * bytes * (n - 1) / n / 10e9);
  }
}

TEST(SimulateRing, ThreadblocksSetTheirPace) {
  // Two ranks, a threadblock each: send, then copy what has arrived.
  const auto ring = to_xml(ring_allgather(2, 1, true, true));
  const std::int64_t size = 2 * kMiB;  // one pass of 1 MiB
  const double expected = 3e-6 + kMiB / 8e9 + 7.5e-6 + 3e-6 + kMiB / 8e9;
  expect_close(seconds_for(ring, star_fabric(2), size, costly()), expected);
  // A sum is slower than a copy.
  const auto sum = to_xml(ring_reduce_scatter(2, 1, true, true));
  const double with_sum = 3e-6 + kMiB / 8e9 + 7.5e-6 + 3e-6 + kMiB / 5e9;
  expect_close(seconds_for(sum, star_fabric(2), size, costly()), with_sum);
}

TEST(SimulateRing, MessagesBetweenBoxesCostMore) {
  Topology topology = star_fabric(2);
  SimulationParameters parameters;
  parameters.simple.message_us = 1;
  parameters.simple.network_message_us = 20;
  const auto ring = to_xml(ring_allgather(2, 1, true, true));
  EXPECT_NEAR(seconds_for(ring, topology, 2, parameters), 1e-6, 1e-9);
  topology.nodes[NodeId(0)].box = "a";
  topology.nodes[NodeId(1)].box = "b";
  EXPECT_NEAR(seconds_for(ring, topology, 2, parameters), 20e-6, 1e-9);
}

TEST(SimulateChain, PiecesFollowEachOther) {
  SimulationParameters parameters;
  parameters.hop_us = 5;
  parameters.simple.pass_bytes = kMiB;
  for (const int n : {2, 5, 9}) {
    for (const int pieces : {1, 2, 16, 100}) {
      const auto chain = forest_json("broadcast", n, 1, {TestTree{chain_parents(n)}}).dump();
      const double piece = kMiB / 10e9;
      const double expected = (n - 1 + pieces - 1) * piece + (n - 1) * 5e-6;
      expect_close(seconds_for(chain, row_fabric(n), pieces * kMiB, parameters), expected,
                   fmt::format("{} ranks, {} pieces", n, pieces));
    }
  }
}

// As many threadblocks as it takes copy, so as many add.
TEST(SimulateChain, SumsAreNoSlowerThanCopies) {
  const TestTree chain{chain_parents(4)};
  const auto down = forest_json("broadcast", 4, 1, {chain}).dump();
  const auto up = forest_json("reduce", 4, 1, {chain}).dump();
  for (const std::int64_t size : {kMiB, 64 * kMiB}) {
    expect_close(seconds_for(up, row_fabric(4), size, costly()),
                 seconds_for(down, row_fabric(4), size, costly()));
  }
}

TEST(SimulateChain, APieceBeginsWhileTheOneBeforeIsOnItsWay) {
  SimulationParameters parameters;
  parameters.simple = {.step_us = 50, .pass_bytes = kMiB};  // a piece flows for 105 us
  const auto chain = forest_json("broadcast", 3, 1, {TestTree{chain_parents(3)}}).dump();
  expect_close(seconds_for(chain, row_fabric(3), 1000 * kMiB, parameters),
               1001 * kMiB / 10e9 + 2 * 50e-6);
}

TEST(SimulateChain, AllreduceTurnsRoundAtTheRoot) {
  SimulationParameters parameters;
  parameters.hop_us = 5;
  const auto trees = rotated(chain_parents(2));
  const auto forest = forest_json("allreduce", 2, 1, trees).dump();
  // Half the buffer there and half of it here, up, and down again.
  expect_close(seconds_for(forest, row_fabric(2), 2 * kMiB, parameters), 2 * (kMiB / 10e9 + 5e-6));
  // Both ways at once: the sums of one root go with the results of the other.
  expect_close(seconds_for(forest, row_fabric(2), 1024 * kMiB), 1024.0 * kMiB / 10e9);
}

TEST(SimulateStar, SharesTheRootsLinkOrDoesNot) {
  const int n = 6;
  const double bytes = 16.0 * kMiB;
  const auto over_switch =
      forest_json("broadcast", n, 1, {TestTree{star_parents(n), 1, "s0"}}).dump();
  expect_close(seconds_for(over_switch, star_fabric(n), 16 * kMiB), (n - 1) * bytes / 10e9);
  std::vector<Cable> cables;
  for (int g = 1; g < n; ++g) cables.push_back({0, g, 10});
  const auto direct = forest_json("broadcast", n, 1, {TestTree{star_parents(n)}}).dump();
  expect_close(seconds_for(direct, fabric(n, 0, cables), 16 * kMiB), bytes / 10e9);
}

TEST(SimulateStar, EveryoneAtOnceReachesTheCongestionModel) {
  const int n = 8;
  const auto stars = forest_json("allgather", n, 1, rotated(star_parents(n), "s0")).dump();
  const std::int64_t size = 64 * kMiB * n;
  const auto simulation = simulated(stars, star_fabric(n), {size});
  ASSERT_EQ(simulation.times.size(), 1U);
  expect_close(simulation.times[0].algbw, 10.0 * n / (n - 1));
  expect_close(simulation.times[0].busbw, 10.0);
  ASSERT_EQ(simulation.links.size(), 2U * n);
  for (const auto& link : simulation.links) expect_close(link.busy, 1.0, link.src + link.dst);
}

TEST(SimulateStar, ManyMessagesShareThreadblocks) {
  const int n = 17;
  SimulationParameters parameters;
  parameters.simple.step_us = 10;
  for (const char* collective : {"allgather", "reduce_scatter"}) {
    const auto stars = forest_json(collective, n, 1, rotated(star_parents(n), "s0")).dump();
    expect_close(seconds_for(stars, star_fabric(n), n, parameters), 10e-6, collective);
    parameters.threadblocks = 16;  // one for each message of a GPU
    expect_close(seconds_for(stars, star_fabric(n), n, parameters), 10e-6, collective);
    parameters.threadblocks = 5;
    const auto simulation = simulated(stars, star_fabric(n), {n}, parameters);
    ASSERT_EQ(simulation.times.size(), 1U);
    expect_close(simulation.times[0].seconds, 16.0 / 5 * 10e-6, collective);
    EXPECT_EQ(simulation.links.size(), 2U * n);
    parameters.threadblocks = SimulationParameters{}.threadblocks;
  }
}

TEST(SimulateStar, MultiplicityIsThatManyTrees) {
  // Root 0 owns all: five of six shares over the wide switch, one over the narrow one.
  const Topology topology = fabric(2, 2, {{0, 2, 50}, {1, 2, 50}, {0, 3, 10}, {1, 3, 10}});
  const auto forest =
      forest_json("broadcast", 2, 6, {{star_parents(2), 5, "s0"}, {star_parents(2), 1, "s1"}});
  expect_close(seconds_for(forest.dump(), topology, 600 * kMiB), 600.0 * kMiB / 60e9);
}

TEST(SimulateAlltoall, IsOneMessageToEach) {
  const int n = 5;
  const auto all = to_xml(direct_alltoall(n, 1));
  const std::int64_t size = n * n * kMiB;
  const auto simulation = simulated(all, star_fabric(n), {size});
  ASSERT_EQ(simulation.times.size(), 1U);
  EXPECT_EQ(simulation.collective, "alltoall");
  // The buffer of one rank is the whole one: n parts, n − 1 of which leave.
  expect_close(simulation.times[0].busbw, 10.0);
}

// Two ranks that each send `messages` before they receive.
Algo crossed(int messages) {
  Algo algo = empty_algo("allgather", 2, 2 * messages, true);
  for (int r = 0; r < 2; ++r) {
    Tb tb{1 - r, 1 - r, 0, {}};
    for (int m = 0; m < messages; ++m) tb.steps.push_back(send('i', m, 1));
    for (int m = 0; m < messages; ++m) tb.steps.push_back(recv('o', (1 - r) * messages + m, 1));
    algo.gpus[static_cast<std::size_t>(r)].tbs.push_back(tb);
  }
  return finished(algo);
}

TEST(SimulateSlots, LimitHowFarASenderRunsAhead) {
  // A sender with three messages, a receiver that copies each for as long as the link takes.
  Algo algo = empty_algo("broadcast", 2, 3, true);
  algo.gpus[0].tbs = {{1, -1, 0, {send('i', 0, 1), send('i', 1, 1), send('i', 2, 1)}}};
  algo.gpus[1].tbs = {{-1, 0, 0, {recv('o', 0, 1), recv('o', 1, 1), recv('o', 2, 1)}}};
  const auto text = to_xml(finished(algo));
  SimulationParameters parameters;
  parameters.simple.pass_bytes = kMiB;
  parameters.simple.threadblock_gbs = 10;
  const double one = kMiB / 10e9;
  parameters.simple.slots = 1;  // send, copy, send, copy, …
  expect_close(seconds_for(text, star_fabric(2), 3 * kMiB, parameters), 6 * one);
  parameters.simple.slots = 2;  // the next is on its way meanwhile
  expect_close(seconds_for(text, star_fabric(2), 3 * kMiB, parameters), 4 * one);
}

TEST(SimulateSlots, TooFewOfThemGetItStuck) {
  const auto simulator =
      forestcoll::prepare_simulation(to_xml(crossed(2)), "crossed.xml", star_fabric(2));
  ASSERT_TRUE(simulator);
  SimulationParameters parameters;
  EXPECT_TRUE(simulator->run({64 * kMiB}, parameters));
  parameters.simple.slots = 1;
  const auto stuck = simulator->run({64 * kMiB}, parameters);
  ASSERT_FALSE(stuck);
  EXPECT_EQ(stuck.errors()[0].code, Code::M05);
  EXPECT_FALSE(stuck.errors()[0].remedy.empty());
}

TEST(SimulateSplit, CountsAreCutAsTheRuntimeCutsThem) {
  // Four chunks in one step: one operation while four fit a pass, else two, else four.
  const auto ring = to_xml(low_latency(ring_allgather(2, 4, true, true)));
  SimulationParameters parameters;
  parameters.ll = {.step_us = 10, .pass_bytes = 4096, .slots = 8};
  const auto steps = [&](std::int64_t chunk) {
    return std::lround(seconds_for(ring, star_fabric(2, 1000), 8 * chunk, parameters) / 10e-6);
  };
  ASSERT_EQ(low_latency(ring_allgather(2, 4, true, true)).proto, "LL");
  EXPECT_EQ(steps(1024), 2);  // send, receive
  EXPECT_EQ(steps(2048), 4);  // two and two
  EXPECT_EQ(steps(4096), 8);
  EXPECT_EQ(steps(8192), 16);  // two passes
}

TEST(SimulatePlan, AThreadblockMovesOneThingAtATime) {
  // Two puts that nothing orders, by one threadblock.
  std::vector<GpuParts> gpus;
  for (int r = 0; r < 2; ++r) {
    PlanJson ops = {on("signal", "memory", {0}), on("wait", "memory", {0}), op("nop")};
    for (const int chunk : {2 * r, 2 * r + 1}) {
      ops.push_back(data("put", {local("o", chunk, 1)}, {remote(0, chunk, 1)}, "memory"));
    }
    ops.push_back(op("nop"));
    ops.push_back(on("signal", "memory", {0}));
    ops.push_back(on("wait", "memory", {0}));
    gpus.push_back({2, 4, 0, {threadblock(0, ops, "memory", {0}, {0})}, {1 - r}, {{1 - r, "o"}}});
  }
  const std::string plan = plan_of("allgather", true, "memory", gpus).dump();
  SimulationParameters parameters;
  parameters.hop_us = 5;
  parameters.simple.threadblock_gbs = 1;
  // Two messages over two hops, and half the buffer at the threadblock's rate.
  expect_close(seconds_for(plan, star_fabric(2), 4 * kMiB, parameters), 20e-6 + 2.0 * kMiB / 1e9);
}

TEST(SimulatePlan, WhatIsReadFromAPeerComesOverItsLinks) {
  const std::string plan = read_reduce_allreduce().dump();
  const double half = 8.0 * kMiB;
  // Each reads a half and writes it back.
  expect_close(seconds_for(plan, star_fabric(2), 16 * kMiB), 2 * half / 10e9);
  SimulationParameters parameters;
  parameters.simple.reduction_gbs = 2;  // as fast as it adds
  expect_close(seconds_for(plan, star_fabric(2), 16 * kMiB, parameters), 2 * half / 2e9);
}

TEST(SimulatePlan, PacketsAreTwiceAsLong) {
  // Both ranks send all they have, and flags as long, at the same time.
  const std::string plan = one_shot_allreduce(2).dump();
  expect_close(seconds_for(plan, star_fabric(2), 16 * kMiB), 2 * 16.0 * kMiB / 10e9);
}

TEST(SimulatePlan, PartsOfAGroupMoveBesideEachOther) {
  // Each of two threadblocks puts half of the rank's half, and copies it.
  SimulationParameters parameters;
  parameters.simple.threadblock_gbs = 2;
  const std::string plan = grouped_allgather().dump();
  expect_close(seconds_for(plan, star_fabric(2), 16 * kMiB, parameters), 2 * 16.0 * kMiB / 4 / 2e9);
}

// Schedules with steady passes, and their fabrics.
std::vector<std::pair<std::string, Topology>> many_passes() {
  std::vector<std::pair<std::string, Topology>> cases;
  cases.emplace_back(to_xml(ring_allreduce(4, 1, 2, true)), star_fabric(4));
  cases.emplace_back(to_xml(tree_allreduce(6, 2)), star_fabric(6));
  cases.emplace_back(to_xml(star_allreduce(4, 1)), star_fabric(4));
  cases.emplace_back(to_xml(hierarchical_allreduce(1)), star_fabric(4));
  cases.emplace_back(to_xml(direct_reduce_scatter(4, 1)), star_fabric(4, 7));
  cases.emplace_back(forest_json("allgather", 5, 1, rotated(chain_parents(5), "s0")).dump(),
                     star_fabric(5));
  cases.emplace_back(forest_json("allreduce", 3, 3,
                                 {{{-1, 0, 1}, 2, "s0"},
                                  {{-1, 0, 0}, 1, "s0"},
                                  {{1, -1, 1}, 3, "s0"},
                                  {{2, 2, -1}, 3, "s0"}})
                         .dump(),
                     star_fabric(3));
  return cases;
}

TEST(SimulateManyPasses, AreExtrapolatedWithinAHundredth) {
  SimulationParameters parameters = costly();
  parameters.simple.pass_bytes = 65536;
  std::int64_t simulated_events = 0, all_events = 0;
  for (const auto& [schedule, topology] : many_passes()) {
    SimulationOptions all;
    all.every_pass = true;
    const std::vector<std::int64_t> sizes = {48 * kMiB, 400 * kMiB};
    const auto whole = simulated(schedule, topology, sizes, parameters, all);
    const auto quick = simulated(schedule, topology, sizes, parameters);
    ASSERT_EQ(whole.times.size(), 2U);
    ASSERT_EQ(quick.times.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
      expect_close(quick.times[i].seconds, whole.times[i].seconds, schedule.substr(0, 200));
    }
    simulated_events += quick.events;
    all_events += whole.events;
  }
  EXPECT_LT(simulated_events, all_events / 2);
}

TEST(SimulateManyPasses, ToleranceCostsNoMoreThanItSays) {
  SimulationParameters parameters = costly();
  for (const auto& [schedule, topology] : many_passes()) {
    SimulationOptions exact, rough;
    exact.tolerance = 0;
    rough.tolerance = 0.02;
    const double precise = seconds_for(schedule, topology, 20 * kMiB, parameters, exact);
    const double quick = seconds_for(schedule, topology, 20 * kMiB, parameters, rough);
    EXPECT_LE(quick, precise * 1.005) << schedule.substr(0, 200);
    EXPECT_GE(quick, precise * 0.975) << schedule.substr(0, 200);
  }
}

TEST(SimulateMetamorphic, BandwidthsScaleTheTimesOfLargeMessages) {
  for (const auto& [schedule, topology] : many_passes()) {
    const double before = seconds_for(schedule, topology, 256 * kMiB);
    for (const Ratio factor : {Ratio(3), Ratio(1, 7)}) {
      Topology scaled = topology;
      for (auto& link : scaled.links) link.bandwidth = link.bandwidth * factor;
      EXPECT_NEAR(seconds_for(schedule, scaled, 256 * kMiB) * factor.to_double(), before,
                  1e-6 * before);
    }
  }
}

TEST(SimulateMetamorphic, UselessLinksChangeNothing) {
  for (const auto& [schedule, topology] : many_passes()) {
    const double before = seconds_for(schedule, topology, 32 * kMiB, costly());
    Topology more = topology;
    forestcoll::TopologyNode node;
    node.id = "useless";
    node.type = NodeType::switch_node;
    const NodeId far = more.nodes.push_back(node);
    for (const int end : {0, 1}) {
      forestcoll::TopologyLink link;
      link.src = NodeId(static_cast<int>(topology.ranks.size()));  // the switch
      link.dst = far;
      link.bandwidth = 10 + end;
      link.latency = 3;
      more.links.push_back(link);
    }
    EXPECT_EQ(seconds_for(schedule, more, 32 * kMiB, costly()), before);
  }
}

TEST(SimulateMetamorphic, OrderOfTreesDoesNotMatter) {
  std::vector<TestTree> trees = {{{-1, 0, 1, 1}, 2, "s0"},
                                 {{-1, 0, 0, 0}, 1, "s0"},
                                 {{3, -1, 1, 1}, 3, "s0"},
                                 {{2, 2, -1, 1}, 3, "s0"},
                                 {{1, 2, 3, -1}, 3, "s0"}};
  for (const char* collective : {"allgather", "allreduce", "reduce_scatter"}) {
    const double before = seconds_for(forest_json(collective, 4, 3, trees).dump(), star_fabric(4),
                                      40 * kMiB, costly());
    for (int turn = 0; turn < 4; ++turn) {
      std::rotate(trees.begin(), trees.begin() + 1, trees.end());
      const double after = seconds_for(forest_json(collective, 4, 3, trees).dump(), star_fabric(4),
                                       40 * kMiB, costly());
      EXPECT_NEAR(after, before, 2e-3 * before) << collective;
    }
  }
}

TEST(SimulateMetamorphic, SameInputSameBits) {
  for (const auto& [schedule, topology] : many_passes()) {
    const auto first = simulated(schedule, topology, {1, 1000, kMiB, 1 << 30}, costly());
    const auto again = simulated(schedule, topology, {1, 1000, kMiB, 1 << 30}, costly());
    ASSERT_EQ(first.times.size(), again.times.size());
    for (std::size_t i = 0; i < first.times.size(); ++i) {
      EXPECT_EQ(first.times[i].seconds, again.times[i].seconds);
    }
    EXPECT_EQ(first.events, again.events);
  }
}

TEST(SimulateLinks, DataIsSpreadAsVerifyDoes) {
  // Two switches between the GPUs: half the data over each.
  const Topology topology = fabric(2, 2, {{0, 2, 10}, {1, 2, 10}, {0, 3, 10}, {1, 3, 10}});
  const auto ring = to_xml(ring_allgather(2, 1, true, true));
  const auto simulation = simulated(ring, topology, {256 * kMiB});
  ASSERT_EQ(simulation.times.size(), 1U);
  expect_close(simulation.times[0].algbw, 40);
  EXPECT_EQ(simulation.links.size(), 8U);
  const auto verdict = forestcoll::verify(ring, "ring.xml", &topology, {});
  ASSERT_TRUE(verdict && verdict->algbw);
  expect_close(simulation.times[0].algbw, verdict->algbw->to_double());
}

}  // namespace
}  // namespace audit_test
