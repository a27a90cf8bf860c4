#include "solver/common/join_trees.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "forest/route_table.hpp"

namespace forestcoll {
namespace {

// Trees over two ranks: the one edge goes over the given segment.
struct Forests {
  std::vector<Forest::Tree> trees;
  std::vector<Route> routes;

  void add(std::size_t root, std::int64_t multiplicity, std::size_t segment) {
    trees.push_back({Rank(root), multiplicity, 1});
    const Route route{PrefixId(root), SegmentId(segment)};
    routes.push_back(root == 0 ? Route{} : route);
    routes.push_back(root == 0 ? route : Route{});
  }
};

TEST(JoinEqualTrees, AddsMultiplicitiesAndSortsByRoot) {
  Forests forest;
  forest.add(1, 5, 7);
  forest.add(0, 1, 3);
  forest.add(0, 2, 4);
  forest.add(0, 3, 3);
  forest.add(1, 6, 7);
  forest.add(0, 4, 4);
  solver::join_equal_trees(forest.trees, forest.routes, 2);
  Forests expected;
  expected.add(0, 4, 3);
  expected.add(0, 6, 4);
  expected.add(1, 11, 7);
  ASSERT_EQ(forest.trees.size(), 3U);
  EXPECT_EQ(forest.routes, expected.routes);
  for (std::size_t t = 0; t < 3; ++t) {
    EXPECT_EQ(forest.trees[t].root, expected.trees[t].root);
    EXPECT_EQ(forest.trees[t].multiplicity, expected.trees[t].multiplicity);
  }
}

TEST(JoinEqualTrees, KeepsTreesThatDiffer) {
  Forests forest;
  forest.add(0, 1, 3);
  forest.add(0, 1, 4);
  forest.add(1, 1, 3);
  const auto routes = forest.routes;
  solver::join_equal_trees(forest.trees, forest.routes, 2);
  EXPECT_EQ(forest.trees.size(), 3U);
  EXPECT_EQ(forest.routes, routes);
}

}  // namespace
}  // namespace forestcoll
