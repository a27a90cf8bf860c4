#include "solver/allreduce/twin_fabric.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "forestcoll/allreduce.hpp"
#include "in_network_fabrics.hpp"

namespace forestcoll::testing {
namespace {

using solver::RootShares;
using solver::SplitUnits;
using solver::TwinFabric;

RootShares shares_of(const AllreduceTrees& trees, const SplitUnits& units) {
  RootShares shares;
  for (const Ratio& amount : trees.root) shares.push_back(units.count(amount));
  return shares;
}

std::unique_ptr<TwinFabric> made(const Network& network, const AllreduceTrees& trees,
                                 const SplitUnits& units, bool inward = false) {
  auto twins = std::make_unique<TwinFabric>(network, trees, inward);
  EXPECT_TRUE(twins->make(units, shares_of(trees, units)));
  return twins;
}

// Two rails, each with trees that branch at it: what one takes of the fabric is what the other
// does, and in-trees are out-trees turned round.
class TwoRails : public ::testing::Test {
 protected:
  Cluster cluster_ = h100(2);
  SwitchRoles roles_ = cluster_.roles(kEchoing, kSharp);
  AllreduceSplit split_ = *allreduce_optimum(cluster_.network, roles_)->split;
  SplitUnits units_{split_};

  // The trees of the largest kind.
  [[nodiscard]] std::vector<AllreduceTrees> of_a_kind() const {
    std::vector<AllreduceTrees> best;
    for (const AllreduceTrees& first : split_.broadcast) {
      std::vector<AllreduceTrees> alike;
      for (const AllreduceTrees& trees : split_.broadcast) {
        if (trees.kind == first.kind) alike.push_back(trees);
      }
      if (alike.size() > best.size()) best = std::move(alike);
    }
    return best;
  }
};

TEST_F(TwoRails, TreesThatBranchAtOneAreImagesOfTheOthers) {
  const auto alike = of_a_kind();
  ASSERT_EQ(alike.size(), 2U);
  ASSERT_NE(alike[0].switches, alike[1].switches);
  const auto one = made(cluster_.network, alike[0], units_);
  const auto other = made(cluster_.network, alike[1], units_);
  const auto image = other->image(*one);
  ASSERT_TRUE(image);
  const Network& network = one->network();
  for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
    const Arc& arc = network.graph.arcs()[a];
    const ArcId to = other->network().graph.find((*image)[arc.tail], (*image)[arc.head]);
    ASSERT_TRUE(to.valid());
    EXPECT_EQ(other->network().capacity[to], network.capacity[ArcId(a)]);
  }
}

TEST_F(TwoRails, InTreesOfAKindAreOutTreesTurnedRound) {
  const AllreduceTrees out = of_a_kind().front();
  for (const AllreduceTrees& in : split_.reduce) {
    if (in.kind != out.kind || in.switches != out.switches) continue;
    const auto twins = made(cluster_.network, out, units_);
    const auto turned = made(cluster_.network, in, units_, true);
    EXPECT_TRUE(turned->image(*twins));
    return;
  }
  FAIL() << "no in-trees";
}

// What is not the same is packed by itself: another share, another capacity, another kind.
TEST_F(TwoRails, WhatDiffersIsNoImage) {
  const auto alike = of_a_kind();
  ASSERT_EQ(alike.size(), 2U);
  const auto one = made(cluster_.network, alike[0], units_);
  AllreduceTrees less = alike[1];
  less.taken.front().amount = less.taken.front().amount * Ratio(2);
  EXPECT_FALSE(made(cluster_.network, less, units_)->image(*one));
  AllreduceTrees fewer = alike[1];
  fewer.taken.pop_back();
  EXPECT_FALSE(made(cluster_.network, fewer, units_)->image(*one));
  AllreduceTrees rooted = alike[1];
  for (Ratio& amount : rooted.root) amount = amount * Ratio(2);
  EXPECT_FALSE(made(cluster_.network, rooted, units_)->image(*one));
  AllreduceTrees strange = alike[1];
  ++strange.kind;
  EXPECT_FALSE(made(cluster_.network, strange, units_)->image(*one));
}

TEST_F(TwoRails, PackedTreesOfBothAreAsManyAndAsHigh) {
  const auto optimum = allreduce_optimum(cluster_.network, roles_);
  const auto forest = pack_branching(cluster_.network, roles_, *optimum);
  ASSERT_TRUE(forest);
  ASSERT_EQ(forest->broadcast.size(), 2U);
  EXPECT_EQ(forest->broadcast[0].forest.tree_count(), forest->broadcast[1].forest.tree_count());
  EXPECT_EQ(forest->broadcast[0].forest.mean_height(), forest->broadcast[1].forest.mean_height());
  EXPECT_EQ(forest->reduce[0].forest.mean_height(), forest->broadcast[0].forest.mean_height());
}

}  // namespace
}  // namespace forestcoll::testing
