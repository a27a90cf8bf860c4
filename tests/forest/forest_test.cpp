#include "forestcoll/forest.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "forest/route_table.hpp"
#include "forest/symmetry.hpp"

namespace forestcoll {
namespace {

// Ranks 0, 1, 2 are nodes 10, 11, 12 around switch 20; tree 0 is 0 → 1 → 2, tree 1 a star from 2.
Forest two_trees() {
  RouteTable table({NodeId(10), NodeId(11), NodeId(12)});
  const std::vector<NodeId> up = {NodeId(20)};
  const std::vector<NodeId> to[3] = {{NodeId(10)}, {NodeId(11)}, {NodeId(12)}};
  const SegmentId to_switch = table.add_segment(up);
  const SegmentId down[3] = {table.add_segment(to[0]), table.add_segment(to[1]),
                             table.add_segment(to[2])};
  PrefixId from[3];
  for (int r = 0; r < 3; ++r) from[r] = table.extend(PrefixId(r), to_switch);
  return Forest(std::move(table), {{Rank(0), 3, 2}, {Rank(2), 1, 1}},
                {Route{},
                 {from[0], down[1]},
                 {from[1], down[2]},  //
                 {from[2], down[0]},
                 {from[2], down[1]},
                 Route{}});
}

TEST(Forest, TellsParentsAndPaths) {
  const Forest forest = two_trees();
  EXPECT_EQ(forest.rank_count(), 3u);
  EXPECT_EQ(forest.tree_count(), 2u);
  EXPECT_EQ(forest.parent(TreeId(0), Rank(2)), Rank(1));
  EXPECT_FALSE(forest.parent(TreeId(0), Rank(0)).valid());
  EXPECT_EQ(forest.path(TreeId(0), Rank(2)),
            (std::vector<NodeId>{NodeId(11), NodeId(20), NodeId(12)}));
  EXPECT_EQ(forest.by_depth(TreeId(0)), (std::vector<Rank>{Rank(0), Rank(1), Rank(2)}));
  EXPECT_EQ(forest.by_depth(TreeId(1)), (std::vector<Rank>{Rank(2), Rank(0), Rank(1)}));
}

TEST(Forest, HeightsAreWeightedByMultiplicity) {
  EXPECT_EQ(two_trees().max_height(), 2);
  EXPECT_DOUBLE_EQ(two_trees().mean_height(), 7.0 / 4);
}

TEST(Forest, ReversedWalksTheSameRoutesBackwards) {
  const Forest reversed = two_trees().reversed();
  EXPECT_TRUE(reversed.is_in_forest());
  EXPECT_EQ(reversed.path(TreeId(0), Rank(2)),
            (std::vector<NodeId>{NodeId(12), NodeId(20), NodeId(11)}));
  EXPECT_FALSE(reversed.reversed().is_in_forest());
}

TEST(Forest, ScaledMultipliesMultiplicitiesOnly) {
  const Forest forest = two_trees();
  const Forest scaled = forest.scaled(5);
  EXPECT_EQ(scaled.tree(TreeId(0)).multiplicity, 15);
  EXPECT_EQ(scaled.parent(TreeId(0), Rank(2)), Rank(1));
  EXPECT_EQ(forest.tree(TreeId(0)).multiplicity, 3);
}

TEST(Forest, ExpandedHasTheSameTreesWithoutASymmetry) {
  Symmetry::Generator turn{3, {}, {}};
  for (const int image : {1, 2, 0}) {
    turn.nodes.push_back(NodeId(image));
    turn.ranks.push_back(Rank(image));
  }
  RouteTable table({NodeId(0), NodeId(1), NodeId(2)});
  std::vector<SegmentId> to;
  for (int v = 0; v < 3; ++v) to.push_back(table.add_segment(std::vector<NodeId>{NodeId(v)}));
  const std::vector<Route> path = {Route{}, {PrefixId(0), to[1]}, {PrefixId(1), to[2]}};
  const Forest forest =
      Forest(std::move(table), {{Rank(0), 2, 2}}, path, Symmetry({turn}), 1).reversed();
  const Forest expanded = forest.expanded();
  EXPECT_EQ(expanded.symmetry().size(), 1U);
  EXPECT_EQ(expanded.base_trees().size(), 3U);
  EXPECT_TRUE(expanded.is_in_forest());
  for (std::size_t t = 0; t < 3; ++t) {
    EXPECT_EQ(expanded.tree(TreeId(t)).root, forest.tree(TreeId(t)).root);
    EXPECT_EQ(expanded.tree(TreeId(t)).multiplicity, 2);
    for (std::size_t v = 0; v < 3; ++v) {
      EXPECT_EQ(expanded.parent(TreeId(t), Rank(v)), forest.parent(TreeId(t), Rank(v)));
      if (Rank(v) == forest.tree(TreeId(t)).root) continue;
      EXPECT_EQ(expanded.path(TreeId(t), Rank(v)), forest.path(TreeId(t), Rank(v)));
    }
  }
}

// Three trees of each of two roots as four chunks: one of them has two, another one of each root.
TEST(Forest, SpreadOverRoundsUpOtherTreesOfOtherRoots) {
  RouteTable table({NodeId(10), NodeId(11)});
  const std::vector<NodeId> to[2] = {{NodeId(10)}, {NodeId(11)}};
  const Route to_first = {PrefixId(1), table.add_segment(to[0])};
  const Route to_second = {PrefixId(0), table.add_segment(to[1])};
  std::vector<Forest::Tree> trees;
  std::vector<Route> routes;
  for (const int root : {0, 0, 0, 1, 1, 1}) {
    trees.push_back({Rank(root), 1, 1});
    routes.push_back(root == 0 ? Route{} : to_first);
    routes.push_back(root == 0 ? to_second : Route{});
  }
  const Forest spread = Forest(std::move(table), std::move(trees), std::move(routes))
                            .spread_over(IdVector<Rank, std::int64_t>(2, 4));
  std::vector<std::int64_t> counts;
  for (std::size_t t = 0; t < 6; ++t) counts.push_back(spread.tree(TreeId(t)).multiplicity);
  EXPECT_EQ(counts[0] + counts[1] + counts[2], 4);
  EXPECT_EQ(counts[3] + counts[4] + counts[5], 4);
  for (std::size_t t = 0; t < 3; ++t) {
    EXPECT_GE(counts[t], 1);
    EXPECT_LE(counts[t] + counts[t + 3], 3);
  }
}

}  // namespace
}  // namespace forestcoll
