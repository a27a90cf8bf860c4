// What failures cost and upgrades bring, against solving every changed fabric from scratch.
#include "forestcoll/whatif.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "forestcoll/failures.hpp"
#include "forestcoll/generate.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/synthesize.hpp"
#include "support/files.hpp"
#include "support/topology_of.hpp"
#include "whatif_oracle.hpp"

namespace forestcoll::testing {
namespace {

// Two boxes of four GPUs, each two of which share a NIC that is a node for either direction. What
// is alike is not so by the halves alone: box1's first NIC is slower on the way in.
Topology shared_nics(const std::string& slow) {
  const auto parsed = parse_topology(
      R"({"format":"forestcoll-topology","version":1,"templates":{"t":{
        "nodes":[{"id":"gpu[0-3]","type":"compute"},{"id":"nvsw","type":"switch"},
                 {"id":"nic_out[0-1]","type":"switch"},{"id":"nic_in[0-1]","type":"switch"}],
        "links":[{"src":"gpu[0-3]","dst":"nvsw","bandwidth":100,"kind":"nvlink"},
          {"src":"gpu[0-1]","dst":"nic_out0","bandwidth":20,"duplex":"simplex","kind":"pcie"},
          {"src":"gpu[2-3]","dst":"nic_out1","bandwidth":20,"duplex":"simplex","kind":"pcie"},
          {"src":"nic_in0","dst":"gpu[0-1]","bandwidth":20,"duplex":"simplex","kind":"pcie"},
          {"src":"nic_in1","dst":"gpu[2-3]","bandwidth":20,"duplex":"simplex","kind":"pcie"}]}},
       "boxes":[{"id":"box[0-1]","template":"t"}],"nodes":[{"id":"ib","type":"switch"}],
       "links":[{"src":"box[0-1]/nic_out[0-1]","dst":"ib","bandwidth":25,"duplex":"simplex"},
         {"src":"ib","dst":"box0/nic_in[0-1]","bandwidth":25,"duplex":"simplex"},
         {"src":"ib","dst":"box1/nic_in1","bandwidth":25,"duplex":"simplex"},
         {"src":"ib","dst":"box1/nic_in0","bandwidth":)" +
          slow + R"(,"duplex":"simplex"}]})",
      "nics");
  EXPECT_TRUE(parsed);
  return parsed->topology;
}

TEST(WhatIf, BothDirectionsOfANicFailTogether) {
  for (const std::string slow : {"25", "10"}) {
    const Topology topology = shared_nics(slow);
    const auto result = what_if(topology, {});
    ASSERT_TRUE(result);
    expect_losses_exact(topology, Collective::allgather, *result);
    expect_failures_exact(result->failures, topology, Collective::allgather, topology.links.size());
    expect_names_drop(topology, Collective::allgather, *result);
    std::size_t pairs = 0;
    for (const NodeFailureEffect& failure : result->node_failures) {
      for (const std::string& name : names_of(failure, topology)) {
        EXPECT_EQ(name.find("_out"), std::string::npos);
        EXPECT_EQ(name.find("_in"), std::string::npos);
      }
      pairs += failure.ways_in.size();
    }
    EXPECT_EQ(pairs, 4U);
    // Eight links of GPUs to NICs and four of NICs to the switch, each one there and one back.
    std::size_t joint = 0;
    for (const FailureEffect& failure : result->failures) {
      if (failure.ways_back.empty()) continue;
      EXPECT_EQ(failure.ways_back.size(), failure.links.size());
      joint += failure.links.size();
      EXPECT_EQ(drop_text(failure, topology)->find("_out"), std::string::npos);
    }
    EXPECT_EQ(joint, 12U);
  }
}

// Three GPUs on a switch: 12 cables, 4 of which one is lost in box1's, and a link beside them.
TEST(WhatIf, OneCableOfABundle) {
  const auto parsed = parse_topology(R"({"format":"forestcoll-topology","version":1,
      "nodes":[{"id":"g[0-2]","type":"compute"},{"id":"sw*2","type":"switch"},
               {"id":"nic_out","type":"switch"},{"id":"nic_in","type":"switch"}],
      "links":[{"src":"g[0-1]","dst":"sw*2","bandwidth":25,"count":12},
               {"src":"g2","dst":"sw*2","bandwidth":75,"count":4},
               {"src":"g0","dst":"g1","bandwidth":10},
               {"src":"g[0-2]","dst":"nic_out","bandwidth":10,"count":2,"duplex":"simplex"},
               {"src":"nic_in","dst":"g[0-2]","bandwidth":10,"count":2,"duplex":"simplex"},
               {"src":"nic_out","dst":"sw*2","bandwidth":5,"count":3,"duplex":"simplex"},
               {"src":"sw*2","dst":"nic_in","bandwidth":5,"count":3,"duplex":"simplex"}]})",
                                     "bundles");
  ASSERT_TRUE(parsed);
  for (const Collective collective : {Collective::allgather, Collective::allreduce}) {
    expect_all_exact(parsed->topology, collective);
  }
  const auto result = what_if(parsed->topology);
  ASSERT_TRUE(result);
  std::vector<std::string> texts;
  for (const FailureEffect& failure : result->cable_failures) {
    texts.push_back(*drop_text(failure, parsed->topology));
  }
  std::ranges::sort(texts);
  EXPECT_EQ(texts, (std::vector<std::string>{"g0~nic*1", "g0~sw*[2]*1", "g2~nic*1", "g2~sw*[2]*1",
                                             "nic~sw*[2]*1"}));
}

// A bridge in each of two boxes, and a bus that breaks the symmetry of one.
TEST(WhatIfLong, WithinLimits) {
  for (const std::string bus : {"", R"(,"limits":[{"links":["box0/g0~box0/sw"],"bandwidth":9}])"}) {
    const auto parsed = parse_topology(R"({"format":"forestcoll-topology","version":1,
        "templates":{"t":{
          "nodes":[{"id":"g[0-1]","type":"compute"},{"id":"sw","type":"switch"}],
          "links":[{"src":"g[0-1]","dst":"sw","bandwidth":10,"count":2}],
          "limits":[{"links":["sw->g[0-1]"],"bandwidth":12}]}},
        "boxes":[{"id":"box[0-1]","template":"t"}],
        "links":[{"src":"box0/sw","dst":"box1/sw","bandwidth":8}])" +
                                           bus + "}",
                                       "limits");
    ASSERT_TRUE(parsed) << to_string(parsed.errors().front());
    for (const Collective collective :
         {Collective::allgather, Collective::reduce_scatter, Collective::allreduce}) {
      expect_all_exact(parsed->topology, collective);
    }
    const auto result = what_if(parsed->topology, {});
    ASSERT_TRUE(result);
    // Without the bus both boxes are alike, and their links with them.
    EXPECT_EQ(result->box_failures.size(), bus.empty() ? 1U : 2U);
    EXPECT_GT(result->proved, 0) << "links without a length are of no use";
  }
}

// Half of the buffer goes each way, over 16 GB/s both ways together: with 32, so much moves. The
// link alone is of no use.
TEST(WhatIf, ALimitThatBindsIsAnUpgrade) {
  const auto parsed = parse_topology(R"({"format":"forestcoll-topology","version":1,
      "nodes":[{"id":"g[0-1]","type":"compute"}],
      "links":[{"src":"g0","dst":"g1","bandwidth":16}],
      "limits":[{"name":"wide","links":["g0->g1"],"bandwidth":15},
                {"name":"bus","links":["g0~g1"],"bandwidth":16}]})",
                                     "bus");
  ASSERT_TRUE(parsed);
  const auto result = what_if(parsed->topology, {});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->algbw, Ratio(16));
  EXPECT_TRUE(result->upgrades.empty());
  ASSERT_EQ(result->limit_upgrades.size(), 1U);
  EXPECT_EQ(result->limit_upgrades[0].limits, (std::vector<std::size_t>{1}));
  EXPECT_EQ(result->limit_upgrades[0].algbw, Ratio(30)) << "15 GB/s one way then bind";
}

// As wide, and alike but for the number of their cables.
TEST(WhatIf, BundlesOfDifferentCablesAreNotAlike) {
  const auto parsed = parse_topology(R"({"format":"forestcoll-topology","version":1,
      "nodes":[{"id":"g[0-3]","type":"compute"},{"id":"sw","type":"switch"}],
      "links":[{"src":"g[0-1]","dst":"sw","bandwidth":25,"count":12},
               {"src":"g[2-3]","dst":"sw","bandwidth":75,"count":4}]})",
                                     "alike");
  ASSERT_TRUE(parsed);
  expect_all_exact(parsed->topology, Collective::allgather);
  EXPECT_EQ(what_if(parsed->topology)->cable_failures.size(), 2U);
}

// Two links of a GPU to one NIC that differ in the direction back alone.
TEST(WhatIf, LinksToADeviceAreAlikeBothWaysOrNot) {
  const auto parsed = parse_topology(R"({"format":"forestcoll-topology","version":1,
      "nodes":[{"id":"g[0-1]","type":"compute"},{"id":"nic_out","type":"switch"},
               {"id":"nic_in","type":"switch"}],
      "links":[{"src":"g[0-1]","dst":"nic_out","bandwidth":10,"duplex":"simplex"},
               {"src":"g[0-1]","dst":"nic_out","bandwidth":10,"duplex":"simplex"},
               {"src":"nic_in","dst":"g[0-1]","bandwidth":2,"duplex":"simplex"},
               {"src":"nic_in","dst":"g[0-1]","bandwidth":3,"duplex":"simplex"},
               {"src":"nic_out","dst":"nic_in","bandwidth":100,"duplex":"simplex"}]})",
                                     "both ways");
  ASSERT_TRUE(parsed);
  const auto result = what_if(parsed->topology);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->failures.size(), 3U);
  expect_failures_exact(result->failures, parsed->topology, Collective::allgather,
                        parsed->topology.links.size());
}

TEST(WhatIf, LinksThatNoTextTellsApartHaveNone) {
  const auto parsed = parse_topology(R"({"format":"forestcoll-topology","version":1,
      "nodes":[{"id":"g[0-1]","type":"compute"}],
      "links":[{"src":"g0","dst":"g1","bandwidth":25,"count":2},
               {"src":"g0","dst":"g1","bandwidth":10}]})",
                                     "parallel");
  const auto result = what_if(parsed->topology);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->failures.size(), 2U);
  for (const auto* failures : {&result->failures, &result->cable_failures}) {
    for (const FailureEffect& failure : *failures) {
      EXPECT_EQ(drop_text(failure, parsed->topology), std::nullopt);
    }
  }
}

class BundledWhatIf : public ::testing::TestWithParam<std::string> {};

TEST_P(BundledWhatIf, NamesDropWhatTheyName) {
  const Topology topology = test::bundled_topology(GetParam());
  for (const Collective collective : {Collective::allgather, Collective::allreduce}) {
    const auto result = what_if(topology, {.collective = collective});
    ASSERT_TRUE(result);
    std::size_t cables = 0;
    for (const FailureEffect& failure : result->cable_failures) cables += failure.links.size();
    EXPECT_EQ(cables, bundles_in(topology));
    expect_names_drop(topology, collective, *result);
  }
}

std::string word_of(const ::testing::TestParamInfo<std::string>& name) {
  std::string word = name.param;
  std::ranges::replace(word, '-', '_');
  return word;
}

// The torus of 512 has as many failures as links.
std::vector<std::string> large_ones_with_few_links() {
  std::vector<std::string> names = test::large_bundled_names();
  std::erase(names, "torus-8x8x8");
  return names;
}

INSTANTIATE_TEST_SUITE_P(Topologies, BundledWhatIf,
                         ::testing::ValuesIn(test::small_bundled_names()), word_of);
INSTANTIATE_TEST_SUITE_P(TopologiesLong, BundledWhatIf,
                         ::testing::ValuesIn(large_ones_with_few_links()), word_of);

TEST(WhatIf, IsExactOnSymmetricFabrics) {
  expect_all_exact(test::generated_topology("dgx-a100", {{"boxes", "2"}, {"fabric", "odd-even"}}),
                   Collective::allgather);
  expect_all_exact(test::generated_topology("mi250"), Collective::allgather);
  expect_all_exact(
      test::generated_topology("dragonfly", {{"hosts", "1"}, {"routers", "2"}, {"global", "1"}}),
      Collective::reduce_scatter);
  expect_all_exact(test::generated_topology("torus", {{"dims", "3x4"}}), Collective::allreduce);
}

TEST(WhatIfLong, IsExactOnCrookedFabrics) {
  Topology degraded = test::generated_topology("dgx-a100", {{"boxes", "2"}, {"fabric", "single"}});
  degraded.links[LinkId(10)].bandwidth = Ratio(25, 2);
  expect_all_exact(degraded, Collective::allgather);
  expect_all_exact(test::generated_topology("mixed", {{"a100", "1"}, {"h100", "1"}}),
                   Collective::allgather);
  expect_all_exact(test::generated_topology("jellyfish", {{"switches", "6"}, {"degree", "3"}}),
                   Collective::allgather);
  expect_all_exact(test::generated_topology("mesh", {{"dims", "2x4"}}), Collective::allgather);
  // One way, and not the same in both directions.
  expect_all_exact(test::generated_topology("kautz", {{"degree", "2"}, {"diameter", "2"}}),
                   Collective::allgather);
  expect_all_exact(test::generated_topology("de-bruijn"), Collective::allgather);
  expect_all_exact(test::generated_topology("de-bruijn"), Collective::reduce_scatter);
  expect_all_exact(test::generated_topology("de-bruijn"), Collective::allreduce);
}

TEST(WhatIf, PhasesOfAnAllreduceMayHaveBottlenecksOfTheirOwn) {
  // What gpu1 gathers is slow to come in, what gpu0 gives to be reduced slow to go out.
  const auto parsed = parse_topology(R"({"format": "forestcoll-topology", "version": 1,
      "nodes": [{"id": "gpu[0-2]", "type": "compute"}, {"id": "sw", "type": "switch"}],
      "links": [{"src": "gpu0", "dst": "sw", "bandwidth": 1, "duplex": "simplex"},
                {"src": "gpu[1-2]", "dst": "sw", "bandwidth": 10, "duplex": "simplex"},
                {"src": "sw", "dst": "gpu1", "bandwidth": 1, "duplex": "simplex"},
                {"src": "sw", "dst": "gpu[0,2]", "bandwidth": 10, "duplex": "simplex"}]})",
                                     "phases");
  ASSERT_TRUE(parsed);
  for (const Collective collective :
       {Collective::allgather, Collective::reduce_scatter, Collective::allreduce}) {
    expect_all_exact(parsed->topology, collective);
  }
}

TEST(WhatIf, LinksThatAreAlikeAreSolvedOnce) {
  const auto result =
      what_if(test::generated_topology("dgx-h100", {{"boxes", "16"}, {"fabric", "rail"}}));
  ASSERT_TRUE(result);
  // A GPU's NVLink, its NIC's two sides.
  EXPECT_EQ(result->failures.size(), 3U);
  EXPECT_EQ(result->failures.front().links.size(), 128U);
  EXPECT_LE(result->solved, 25);
}

TEST(WhatIf, ALostBoxLeavesTheOthersToThemselves) {
  // Without one of three boxes two are left, whose NICs carry half of the data.
  const auto result =
      what_if(test::generated_topology("dgx-a100", {{"boxes", "3"}, {"fabric", "rail"}}));
  ASSERT_TRUE(result);
  ASSERT_EQ(result->box_failures.size(), 1U);
  EXPECT_EQ(result->box_failures[0].boxes, (std::vector<std::string>{"box0", "box1", "box2"}));
  EXPECT_EQ(result->box_failures[0].algbw, Ratio(1040, 3));
  // A GPU, an NVSwitch, a NIC and a rail; without its NVSwitch a GPU has its NIC alone.
  EXPECT_EQ(result->node_failures.size(), 4U);
  EXPECT_EQ(result->node_failures[0].nodes.size(), 3U);
  EXPECT_EQ(result->node_failures[0].algbw, Ratio(24 * 25, 23));
}

TEST(WhatIf, ALostRootLeavesNothing) {
  const Topology topology =
      test::generated_topology("dgx-a100", {{"boxes", "2"}, {"fabric", "single"}});
  const auto result = what_if(topology, {.collective = Collective::broadcast, .root = Rank(9)});
  ASSERT_TRUE(result);
  const NodeId root = topology.ranks[9];
  for (const NodeFailureEffect& failure : result->node_failures) {
    for (const NodeId node : failure.nodes) {
      Ratio expected = 0;
      const auto left = degrade(topology, {.drop = {topology.nodes[node].id}});
      if (node != root && left) {
        const auto network = to_digraph(left->topology);
        expected = bound(*network, Collective::broadcast, network->rank_of[root])->algbw;
      }
      EXPECT_EQ(failure.algbw, expected) << topology.nodes[node].id;
    }
  }
}

TEST(WhatIf, WhereTheOwnersOfTheDataAreLostThereIsNone) {
  Topology topology = test::generated_topology("full-mesh", {{"nodes", "4"}});
  for (const NodeId gpu : topology.ranks) topology.nodes[gpu].weight = 0;
  topology.nodes[topology.ranks[2]].weight = 1;
  const auto result = what_if(topology);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->node_failures.front().nodes, std::vector<NodeId>{topology.ranks[2]});
  EXPECT_EQ(result->node_failures.front().algbw, Ratio(0));
  EXPECT_EQ(result->node_failures.back().algbw, Ratio(2));
}

TEST(WhatIf, NamesWhatPays) {
  // Four boxes of A100 are held up by their NICs, which the PCIe links can feed 32 GB/s.
  const auto result =
      what_if(test::generated_topology("dgx-a100", {{"boxes", "4"}, {"fabric", "single"}}));
  ASSERT_TRUE(result);
  ASSERT_FALSE(result->upgrades.empty());
  EXPECT_EQ(result->algbw, Ratio(800, 3));
  // NICs and PCIe together: 8 · 50 GB/s into a box, but a GPU takes in 300 + 50.
  EXPECT_EQ(result->upgrades.front().algbw, Ratio(32 * 350, 31));
  // The NICs alone: 8 · 32 into a box.
  const bool nics = std::ranges::any_of(result->upgrades, [](const UpgradeEffect& upgrade) {
    return upgrade.together && upgrade.links.size() == 32 && upgrade.algbw == Ratio(32 * 256, 24);
  });
  EXPECT_TRUE(nics);
}

TEST(WhatIf, WhatCannotPayIsProvedAndNotSolved) {
  const auto result =
      what_if(test::generated_topology("mi250", {{"boxes", "2"}, {"fabric", "single"}}));
  ASSERT_TRUE(result);
  EXPECT_GT(result->proved, 0);
}

TEST(WhatIf, ARootOfItsOwn) {
  const Topology topology =
      test::generated_topology("dgx-a100", {{"boxes", "2"}, {"fabric", "single"}});
  const auto result =
      what_if(topology, {.collective = Collective::broadcast, .root = Rank(3), .factor = 4});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->algbw, bound(*to_digraph(topology), Collective::broadcast, Rank(3))->algbw);
  for (const FailureEffect& failure : result->failures) {
    for (const LinkId link : failure.links) {
      Topology without = topology;
      without.links[link].enabled = false;
      EXPECT_EQ(failure.algbw, bound(*to_digraph(without), Collective::broadcast, Rank(3))->algbw);
    }
  }
}

TEST(WhatIf, ProgressComesToItsEnd) {
  std::size_t last = 0, most = 0;
  const auto result = what_if(test::generated_topology("mi250"),
                              {.progress = [&](std::size_t done, std::size_t all) {
                                EXPECT_EQ(done, last + 1);
                                last = done, most = all;
                              }});
  ASSERT_TRUE(result);
  EXPECT_EQ(last, most);
  EXPECT_GT(most, 0U);
}

TEST(WhatIf, ArithmeticThatDoesNotFitIsAnError) {
  Topology topology = test::generated_topology("full-mesh", {{"nodes", "3"}});
  for (TopologyLink& link : topology.links) link.bandwidth = Ratio(1, (std::int64_t{1} << 58) - 27);
  topology.links[LinkId(0)].bandwidth = Ratio(1, (std::int64_t{1} << 58) - 57);
  const auto result = what_if(topology);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.errors().front().code, Code::E14);
}

TEST(OptimalRate, KnownCutsDoNotChangeTheAnswer) {
  const Topology topology =
      test::generated_topology("mi250", {{"boxes", "2"}, {"fabric", "single"}});
  const Network network = *to_digraph(topology);
  const Weights weights = uniform_weights(network);
  const Rate cold = optimal_rate(network, weights);
  const std::vector<std::vector<NodeId>> known = {{NodeId(0)}, cold.bottleneck.sending};
  const Rate warm = optimal_rate(network, weights, known);
  EXPECT_EQ(warm.inverse, cold.inverse);
  EXPECT_GT(cold.statistics.newton_steps, 0);
  EXPECT_EQ(warm.statistics.newton_steps, 0);
}

}  // namespace
}  // namespace forestcoll::testing
