// The optimum and the optimum by trees: known cases, and what must hold between them.
#include "forestcoll/figures.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "forestcoll/failures.hpp"
#include "forestcoll/generate.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/synthesize.hpp"
#include "forestcoll/topology_text.hpp"
#include "forestcoll/whatif.hpp"
#include "support/files.hpp"
#include "support/topology_of.hpp"

namespace forestcoll::testing {
namespace {

RateFigures figures_on(const Topology& topology, Collective collective,
                       std::optional<Rank> root = {}) {
  return rate_figures(*to_digraph(topology), switch_roles(topology), collective, root);
}

Topology parsed(const std::string& text) {
  const auto result = parse_topology(text, "figures");
  EXPECT_TRUE(result);
  return result->topology;
}

// One GPU sends 10 into a switch whose way to each of three others is as wide, and which are joined
// by nothing else: a switch that copies serves all three at 10, trees at 10/3.
Topology fan(const std::string& roles) {
  return parsed(R"({"format":"forestcoll-topology","version":1,
    "nodes":[{"id":"g[0-3]","type":"compute"},{"id":"sw","type":"switch")" +
                roles + R"(}],
    "links":[{"src":"g0","dst":"sw","bandwidth":10},
             {"src":"sw","dst":"g[1-3]","bandwidth":10,"duplex":"simplex"},
             {"src":"g[1-3]","dst":"g0","bandwidth":10,"duplex":"simplex"}]})");
}

TEST(RateFigures, SwitchesWithUnequalSidesCopyMoreThanTreesHave) {
  const RateFigures able = figures_on(fan(R"(,"multicast":true)"), Collective::broadcast, Rank(0));
  const RateFigures plain = figures_on(fan(""), Collective::broadcast, Rank(0));
  ASSERT_TRUE(able.optimum && able.by_trees && plain.optimum && plain.by_trees);
  EXPECT_LT(plain.by_trees->at_most, Ratio(10));
  EXPECT_EQ(*plain.optimum, *plain.by_trees);
  EXPECT_EQ(*able.by_trees, *plain.by_trees);
  EXPECT_EQ(able.optimum->at_most, Ratio(10));
  EXPECT_EQ(able.optimum->at_least, Ratio(10));  // trees of several classes reach it
}

TEST(RateFigures, CombiningIsOfNoUseToABroadcast) {
  const RateFigures able = figures_on(fan(R"(,"reduce":true)"), Collective::broadcast, Rank(0));
  EXPECT_EQ(*able.optimum, *able.by_trees);
}

TEST(RateFigures, KnownAllreduces) {
  const auto box = figures_on(test::generated_topology("dgx-h100"), Collective::allreduce);
  EXPECT_EQ(box.optimum->at_most, Ratio(400));
  EXPECT_TRUE(box.optimum->is_exact());
  EXPECT_EQ(box.by_trees->at_most, Ratio(1800, 7));
  EXPECT_EQ(*box.allreduce->two_phases, Ratio(1800, 7));
  const auto mixed =
      parse_topology(test::read_file(test::bundled_path("mixed-a100-h100")), "mixed");
  ASSERT_TRUE(mixed);
  const auto both = figures_on(mixed->topology, Collective::allreduce);
  EXPECT_EQ(both.optimum->at_most, Ratio(175));
  EXPECT_EQ(*both.by_trees, *both.optimum);
  EXPECT_EQ(*both.allreduce->two_phases, Ratio(400, 3));
}

// Whatever is known: two phases, trees, everything; and no figure depends on the unit.
TEST(RateFigures, StandInOrder) {
  for (const char* name : {"dgx-h100", "dgx-a100", "mi250", "gb200-nvl72"}) {
    for (const std::string boxes : {"1", "2"}) {
      if (boxes == "2" && std::string(name) == "gb200-nvl72") continue;
      const Topology topology = test::generated_topology(name, {{"boxes", boxes}});
      Topology wider = topology;
      for (TopologyLink& link : wider.links) link.bandwidth = link.bandwidth * Ratio(3);
      const auto figures = figures_on(topology, Collective::allreduce);
      const auto tripled = figures_on(wider, Collective::allreduce);
      ASSERT_TRUE(figures.optimum && figures.by_trees);
      EXPECT_LE(*figures.allreduce->two_phases, figures.by_trees->at_least);
      EXPECT_LE(figures.by_trees->at_least, figures.by_trees->at_most);
      EXPECT_LE(figures.by_trees->at_least, figures.optimum->at_least);
      EXPECT_LE(figures.optimum->at_least, figures.optimum->at_most);
      EXPECT_EQ(tripled.optimum->at_most, figures.optimum->at_most * Ratio(3));
      EXPECT_EQ(tripled.by_trees->at_most, figures.by_trees->at_most * Ratio(3));
    }
  }
}

// Figures stand by themselves: without a bound, what the linear program finds is still known.
TEST(RateFigures, OneThatIsNotKnownLeavesTheOthers) {
  const Topology topology = test::generated_topology("dgx-a100");
  const Network network = *to_digraph(topology);
  const Expected<Bound> unknown = make_error(Code::E14, "the exact rate does not fit", "round it");
  const auto figures =
      rate_figures(network, switch_roles(topology), Collective::allreduce, unknown);
  ASSERT_TRUE(figures.optimum && figures.by_trees);
  EXPECT_EQ(figures.by_trees->at_most, Ratio(1200, 7));
  EXPECT_FALSE(figures.allreduce->two_phases);
  const auto phase = rate_figures(network, {}, Collective::allgather, unknown);
  EXPECT_FALSE(phase.optimum);
  EXPECT_EQ(phase.by_trees.errors().front().code, Code::E14);
}

// A failure's price is that of dropping it, also where switches that look alike by their links
// cannot do the same.
TEST(RateFiguresLong, AreWhatWhatIfSaysOfFailures) {
  Topology topology = test::generated_topology("dgx-h100", {{"boxes", "3"}, {"fabric", "rail"}});
  for (TopologyNode& node : topology.nodes) {
    if (node.id == "box1/nvsw") node.multicast = node.reduce = false;
  }
  for (const Collective collective : {Collective::allreduce, Collective::allgather}) {
    const auto optimum_without = [&](const std::string& drop) {
      const auto left = degrade(topology, {.drop = {drop}});
      return left ? figures_on(left->topology, collective).optimum->at_most : Ratio(0);
    };
    const auto found = what_if(topology, {.collective = collective});
    ASSERT_TRUE(found);
    EXPECT_EQ(found->algbw, figures_on(topology, collective).optimum->at_most);
    for (const auto* failures : {&found->failures, &found->cable_failures}) {
      for (FailureEffect failure : *failures) {
        const std::vector<LinkId> alike = failure.links;
        for (const LinkId link : {alike.front(), alike.back()}) {
          failure.links = {link};
          const std::string drop = *drop_text(failure, topology);
          EXPECT_EQ(failure.algbw, optimum_without(drop)) << drop;
        }
      }
    }
    for (const NodeFailureEffect& failure : found->node_failures) {
      const auto names = names_of(failure, topology);
      EXPECT_EQ(failure.algbw, optimum_without(names.front())) << names.front();
      EXPECT_EQ(failure.algbw, optimum_without(names.back())) << names.back();
    }
  }
}

}  // namespace
}  // namespace forestcoll::testing
