// The parts of the all-to-all solver by themselves: folding, refinement, routing, proofs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "solver/alltoall/folded.hpp"
#include "solver/alltoall/halpern.hpp"
#include "solver/alltoall/instance/answer.hpp"
#include "solver/alltoall/instance/instance.hpp"
#include "solver/alltoall/instance/proof.hpp"
#include "solver/alltoall/instance/routing.hpp"
#include "solver/alltoall/methods.hpp"
#include "solver/alltoall/program.hpp"
#include "solver/alltoall/refinement.hpp"
#include "support/fabrics.hpp"
#include "support/random_demand.hpp"

namespace forestcoll::solver::alltoall {
namespace {

using test::FabricBuilder;
using ::testing::ElementsAre;

// Three GPUs on switch 5, one of them behind a NIC (7); two on switch 6; the switches are linked.
Network two_switches() {
  FabricBuilder b(5, 3);
  b.link(0, 5, 10);
  b.link(1, 5, 11);
  b.link(2, 7, 12);
  b.link(7, 5, 4);
  b.link(3, 6, 13);
  b.link(4, 6, 14);
  b.link(5, 6, 2);
  return b.build();
}

TEST(Folded, TreesFoldIntoOneNode) {
  const Network network = two_switches();
  const Demand demand = Demand::uniform(5);
  const Instance instance = make_instance(network, demand);
  const Folded folded = fold(instance);
  EXPECT_EQ(folded.graph.node_count(), 1U);
  EXPECT_TRUE(folded.source.empty());
  // Between the switches 3 · 2 blocks cross a link of 2; the NIC's link of 4 has 4 blocks.
  EXPECT_EQ(folded.fixed_load / folded.fixed_capacity, 3);
}

TEST(Folded, GpusOfASwitchAreOneSource) {
  FabricBuilder b(6, 3);  // two GPUs on each of three switches in a ring
  for (std::size_t i = 0; i < 6; ++i) b.link(i, 6 + i / 2, 10 + Capacity(i));
  for (std::size_t i = 0; i < 3; ++i) b.link(6 + i, 6 + (i + 1) % 3, 1 + Capacity(i));
  const Network network = b.build();
  const Demand demand = Demand::uniform(6);
  const Instance instance = make_instance(network, demand);
  const Folded folded = fold(instance);
  EXPECT_EQ(folded.graph.node_count(), 3U);
  EXPECT_EQ(folded.graph.arc_count(), 6U);
  EXPECT_THAT(folded.source, ElementsAre(0, 1, 2));
  EXPECT_THAT(folded.needs[1], ElementsAre(4, 0, 4));
  EXPECT_THAT(folded.source_of, ElementsAre(0, 0, 1, 1, 2, 2));
  // A GPU sends five blocks and gets five; the narrowest link is the first GPU's.
  EXPECT_EQ(folded.fixed_load, 5);
  EXPECT_EQ(folded.fixed_capacity, 10);
}

TEST(Folded, DemandsAddUp) {
  FabricBuilder b(4, 2);
  for (std::size_t i = 0; i < 4; ++i) b.link(i, 4 + i / 2, 10);
  b.link(4, 5, 1);
  b.link(0, 3, 1);  // so that neither switch is a leaf; 0 and 3 have a choice
  const Network network = b.build();
  const Demand demand = Demand::matrix(4, {0, 0, 0, 0, 50, 0, 20, 30, 0, 0, 0, 0, 0, 10, 0, 0});
  const Instance instance = make_instance(network, demand);
  EXPECT_EQ(instance.unit, 10);
  const Folded folded = fold(instance);
  ASSERT_EQ(folded.source.size(), 2U);  // GPU 1 by its switch, and 3; 0 and 2 send nothing
  const auto sum = [](const std::vector<double>& needs) {
    return std::accumulate(needs.begin(), needs.end(), 0.0);
  };
  EXPECT_EQ(sum(folded.needs[0]), 10);
  EXPECT_EQ(sum(folded.needs[1]), 1);
  EXPECT_EQ(folded.fixed_load, 10);  // out of GPU 1
}

// A cut that is known does not end the search for a narrower one, unless as much is reached.
TEST(PreferCut, FindsTheNarrowestOfThoseThatLengthsShow) {
  FabricBuilder b(6, 2);
  for (std::size_t i = 0; i < 6; ++i) b.link(i, 6 + i / 3, 10);
  b.link(6, 7, 3);
  const Network network = b.build();
  const Demand demand = Demand::uniform(6);
  const Instance instance = make_instance(network, demand);
  const std::vector<bool> first = {true, false, false, false, false, false, false, false};
  Answer answer;
  take_cut(instance, first, answer);
  answer.lengths = ArcLengths(network.graph.arc_count(), 1);
  answer.at_most = prove_by_cut(instance, first);
  EXPECT_EQ(answer.at_most, Ratio(10, 5));
  Answer exact = answer;
  prefer_cut(instance, answer);
  EXPECT_EQ(answer.at_most, Ratio(3, 9));
  EXPECT_EQ(answer.cut.size(), 4U);
  exact.reached = exact.at_most;
  prefer_cut(instance, exact);
  EXPECT_THAT(exact.cut, ElementsAre(NodeId(0)));
}

TEST(Refinement, OfATorusIsThatOfItsReflections) {
  const Network network = test::torus({8, 8});
  const Demand demand = Demand::uniform(64);
  const Instance instance = make_instance(network, demand);
  ASSERT_EQ(instance.sources.size(), 1U);
  const auto classes = refine(instance, 1000);
  ASSERT_TRUE(classes);
  // Nodes by their distances 0 … 4 along both sides, in either order.
  EXPECT_EQ(classes->nodes.count, 15U);
  EXPECT_EQ(classes->capacities.count, 1U);
  EXPECT_FALSE(refine(instance, classes->flows.count - 1));
}

TEST(Refinement, MergesSourcesThatNoSymmetryWasFoundFor) {
  const Network network = test::slim_fly(5);
  const Demand demand = Demand::uniform(50);
  const Instance instance = make_instance(network, demand);
  ASSERT_GT(instance.sources.size(), 1U);
  const auto classes = refine(instance, 1000);
  ASSERT_TRUE(classes);
  EXPECT_LT(classes->flows.count, 10U);  // diameter 2, all ranks alike
}

TEST(Refinement, GivesUpAboveAsManyClassesAsThereAre) {
  const Network network = test::torus({3, 3});
  std::vector<std::int64_t> amounts(81);
  std::iota(amounts.begin(), amounts.end(), 1);
  const Demand demand = Demand::matrix(9, amounts);
  const Instance instance = make_instance(network, demand);
  const auto all = refine(instance, 1'000);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->flows.count, 9U * network.graph.arc_count());  // no two are alike
  EXPECT_TRUE(refine(instance, all->flows.count));
  EXPECT_FALSE(refine(instance, all->flows.count - 1));
}

TEST(Program, CountsWhatOrbitsCarry) {
  const Network network = test::dgx_a100(2);
  const Demand demand = Demand::uniform(16);
  const Instance instance = make_instance(network, demand);
  const auto program = make_program(instance, 1000);
  ASSERT_TRUE(program);
  // Sixteen times what a source puts on all arcs of an orbit is what they carry.
  std::int64_t arcs = 0;
  for (std::size_t c = 0; c < program->capacity.size(); ++c) {
    std::int64_t flows = 0;
    for (const Term& term : program->capacity[c].terms) flows += term.coefficient;
    arcs += flows * program->capacity[c].divisor / 16 * program->orbits[c];
  }
  EXPECT_EQ(arcs, static_cast<std::int64_t>(network.graph.arc_count()));
}

TEST(Routing, KeepsProportionsAndAddsUp) {
  FabricBuilder b(2, 2);  // two ways, the second one twice as wide
  b.link(0, 2, 1);
  b.link(2, 1, 1);
  b.link(0, 3, 2);
  b.link(3, 1, 2);
  const Network network = b.build();
  const Demand demand = Demand::uniform(2);
  const Instance instance = make_instance(network, demand);
  const ArcLengths alike(network.graph.arc_count(), 1);
  const auto flows = routed(
      instance, alike,
      [&](std::size_t source, ArcId a) {
        const bool back =
            network.graph.tail(a) == NodeId(1 - source) || network.graph.head(a) == NodeId(source);
        return back ? 0 : static_cast<double>(network.capacity[a]);
      },
      300);
  const auto through = [&](std::size_t middle) {
    return flows[0][network.graph.find(NodeId(0), NodeId(middle))];
  };
  EXPECT_EQ(through(2), 100);
  EXPECT_EQ(through(3), 200);
  EXPECT_EQ(prove_reached(instance, flows, 300), Ratio(3));
}

// Proportions that send everything in a circle still end in flows for the demand.
TEST(Routing, LeavesCircles) {
  const Network network = test::torus({3, 3});
  const Demand demand = test::random_demand(9, 20, 1);
  const Instance instance = make_instance(network, demand);
  const ArcLengths alike(network.graph.arc_count(), 1);
  const auto flows = routed(
      instance, alike,
      [&](std::size_t, ArcId a) {
        return network.graph.head(a).value == (network.graph.tail(a).value + 1) % 9 ? 1.0 : 0.0;
      },
      1000);
  EXPECT_TRUE(prove_reached(instance, flows, 1000));
}

TEST(Proof, OfLengthsByHand) {
  const Network network = two_switches();
  const Demand demand = Demand::uniform(5);
  const Instance instance = make_instance(network, demand);
  ArcLengths lengths(network.graph.arc_count(), 0);
  EXPECT_FALSE(prove_at_most(instance, lengths));
  lengths[network.graph.find(NodeId(5), NodeId(6))] = 7;
  EXPECT_EQ(prove_at_most(instance, lengths), Ratio(1, 3));
}

TEST(Proof, OfFlowsThatAreNoneIsNone) {
  const Network network = two_switches();
  const Demand demand = Demand::uniform(5);
  const Instance instance = make_instance(network, demand);
  const ArcLengths alike(network.graph.arc_count(), 1);
  const auto flows = routed(
      instance, alike, [](std::size_t, ArcId) { return 0.0; }, 10);
  EXPECT_EQ(prove_reached(instance, flows, 10), Ratio(1, 3));
  EXPECT_FALSE(prove_reached(instance, flows, 9));
  auto lost = flows;
  --lost[0][network.graph.find(NodeId(5), NodeId(6))];
  EXPECT_FALSE(prove_reached(instance, lost, 10));
}

TEST(Answer, BetterLengthsTakeThePlaceOfACut) {
  const Network network = two_switches();
  const Demand demand = Demand::uniform(5);
  const Instance instance = make_instance(network, demand);
  Answer answer;
  const std::vector<bool> first_gpu = {true, false, false, false, false, false, false, false};
  answer.at_most = prove_by_cut(instance, first_gpu);
  take_cut(instance, first_gpu, answer);
  EXPECT_EQ(answer.at_most, Ratio(5, 2));
  EXPECT_THAT(answer.cut, ElementsAre(NodeId(0)));
  EXPECT_EQ(prove_at_most(instance, answer.lengths), answer.at_most);
  ArcLengths lengths(network.graph.arc_count(), 0);
  lengths[network.graph.find(NodeId(5), NodeId(6))] = 7;
  answer.consider(instance, lengths);
  EXPECT_EQ(answer.at_most, Ratio(1, 3));
  EXPECT_TRUE(answer.cut.empty());
}

// Rates that do not fit are rounded to the safe side.
TEST(Proof, RoundsOutwards) {
  FabricBuilder b(3);
  const Capacity large = (Capacity{1} << 59) - 55;
  b.link(0, 1, large);
  b.link(1, 2, large - 2);
  const Network network = b.build();
  const Demand demand = Demand::matrix(3, {0, 7, 11, 13, 0, 17, 19, 23, 0});
  const Instance instance = make_instance(network, demand);
  ArcLengths lengths(network.graph.arc_count(), 0);
  lengths[ArcId(0)] = (1 << 20) - 3;
  lengths[ArcId(1)] = (1 << 20) - 5;
  lengths[ArcId(2)] = (1 << 20) - 9;
  const auto at_most = prove_at_most(instance, lengths);
  ASSERT_TRUE(at_most);
  const auto flows = routed(
      instance, lengths, [](std::size_t, ArcId) { return 0.0; }, 12345);
  const auto reached = prove_reached(instance, flows, 12345);
  ASSERT_TRUE(reached);
  EXPECT_LE(*reached, *at_most);
}

TEST(Proof, ShortProductsAreOnTheSafeSide) {
  const Ratio a((std::int64_t{1} << 61) - 1, (std::int64_t{1} << 60) - 93), b(7, 3);
  constexpr std::int64_t kTotal = std::int64_t{1} << 20;
  const auto below = short_product(a, b, kTotal, Rounding::down);
  const auto above = short_product(a, b, kTotal, Rounding::up);
  ASSERT_TRUE(below && above);
  EXPECT_TRUE(checked_mul(*below, Ratio(kTotal)));
  EXPECT_TRUE(checked_mul(*above, Ratio(kTotal)));
  EXPECT_LT(*below, *above);
  const double exact = a.to_double() * 7 / 3;
  EXPECT_NEAR(below->to_double() / exact, 1, 1e-11);
  EXPECT_NEAR(above->to_double() / exact, 1, 1e-11);
  EXPECT_EQ(short_product(Ratio(3, 4), Ratio(2, 9), 1, Rounding::up), Ratio(1, 6));
}

// Per byte of a terabyte, a rate is tiny: seven digits are left of it.
TEST(Proof, ShortProductsKeepTinyRates) {
  const Ratio rate(7, (std::int64_t{1} << 61) - 1), unit(std::int64_t{1} << 21, 1);
  const auto below = short_product(rate, unit, kMaxDemand, Rounding::down);
  const auto above = short_product(rate, unit, kMaxDemand, Rounding::up);
  ASSERT_TRUE(below && above);
  EXPECT_LE(*below, *above);
  EXPECT_GT(below->num(), 0);
  EXPECT_NEAR(above->to_double() / below->to_double(), 1, 1e-5);
}

TEST(Halpern, FindsTheWidestWay) {
  FabricBuilder b(2, 2);
  b.link(0, 2, 1);
  b.link(2, 1, 1);
  b.link(0, 3, 2);
  b.link(3, 1, 2);
  const Network network = b.build();
  const Demand demand = Demand::uniform(2);
  const Instance instance = make_instance(network, demand);
  const Folded folded = fold(instance);
  Halpern method(folded, 1);
  method.iterate(400, {});
  std::vector<double> out;
  for (std::size_t a = 0; a < folded.graph.arc_count(); ++a) {
    if (folded.graph.tail(ArcId(a)).index() == folded.source[0]) out.push_back(method.flow(0, a));
  }
  ASSERT_EQ(out.size(), 2U);
  EXPECT_NEAR(out[1] / out[0], 2, 1e-3);
}

}  // namespace
}  // namespace forestcoll::solver::alltoall
