#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "solver/height/edges/shapes.hpp"

namespace forestcoll {
namespace {

using solver::TreeShapes;
using Parents = std::vector<Rank>;

// By definition: −1 where the way up does not end at the root.
int depth_of(const Parents& parents, Rank v) {
  int depth = 0;
  for (; parents[v.index()] != v; v = parents[v.index()]) {
    if (++depth > static_cast<int>(parents.size())) return -1;
  }
  return depth;
}

std::optional<std::int64_t> potential_of(const Parents& parents, int base_bits) {
  std::int64_t sum = 0;
  for (std::size_t v = 0; v < parents.size(); ++v) {
    const int depth = depth_of(parents, Rank(v));
    if (depth < 0) return std::nullopt;
    sum += std::int64_t{1} << (base_bits * depth);
  }
  return sum;
}

bool is_below(const Parents& parents, Rank v, Rank u) {
  while (u != v && parents[u.index()] != u) u = parents[u.index()];
  return u == v;
}

Parents random_tree(std::mt19937& random, std::size_t ranks) {
  std::vector<Rank> order;
  for (std::size_t v = 0; v < ranks; ++v) order.push_back(Rank(v));
  std::shuffle(order.begin(), order.end(), random);
  Parents parents(ranks);
  parents[order[0].index()] = order[0];
  for (std::size_t i = 1; i < ranks; ++i) parents[order[i].index()] = order[random() % i];
  return parents;
}

void expect_equal(const TreeShapes& shapes, std::size_t t, const Parents& parents) {
  int height = 0;
  for (std::size_t v = 0; v < parents.size(); ++v) {
    ASSERT_EQ(shapes.parent(t, Rank(v)), parents[v]);
    ASSERT_EQ(shapes.depth(t, Rank(v)), depth_of(parents, Rank(v)));
    height = std::max(height, depth_of(parents, Rank(v)));
  }
  ASSERT_EQ(shapes.height(t), height);
}

class RandomShapes : public testing::TestWithParam<int> {};

// Both potentials by definition, and the difference without making the move.
TEST_P(RandomShapes, MovesChangeThePotentialAsForetold) {
  std::mt19937 random(1);
  for (int round = 0; round < 40; ++round) {
    const std::size_t ranks = 2 + random() % 14;
    TreeShapes shapes(ranks, GetParam());
    std::vector<Parents> trees = {random_tree(random, ranks), random_tree(random, ranks)};
    for (const Parents& parents : trees) shapes.add(parents);
    for (int i = 0; i < 60; ++i) {
      const std::size_t t = random() % 2;
      const Rank v(random() % ranks), parent(random() % ranks);
      Parents& parents = trees[t];
      ASSERT_EQ(shapes.is_below(t, v, parent), is_below(parents, v, parent));
      if (parents[v.index()] == v || is_below(parents, v, parent)) continue;
      const auto before = potential_of(parents, GetParam());
      parents[v.index()] = parent;
      ASSERT_EQ(shapes.change(t, v, parent), *potential_of(parents, GetParam()) - *before);
      shapes.move(t, v, parent);
      expect_equal(shapes, t, parents);
    }
  }
}

// Is there an edge into the group whose way from the root has passed through it?
bool comes_back(const Parents& now, std::span<const Rank> group, const Parents& parents_of_group) {
  const auto inside = [&](Rank r) {
    return std::find(group.begin(), group.end(), r) != group.end();
  };
  return std::any_of(parents_of_group.begin(), parents_of_group.end(), [&](Rank from) {
    return !inside(from) &&
           std::any_of(group.begin(), group.end(), [&](Rank r) { return is_below(now, r, from); });
  });
}

TEST_P(RandomShapes, GroupsChangeThePotentialAsForetold) {
  std::mt19937 random(2);
  int made = 0, circles = 0, back = 0;
  for (int round = 0; round < 3000; ++round) {
    const std::size_t ranks = 4 + random() % 8;
    TreeShapes shapes(ranks, GetParam());
    const Parents parents = random_tree(random, ranks);
    shapes.add(parents);
    Parents group, old_parents, new_parents;
    for (std::size_t v = 0; v < ranks; ++v) {
      if (parents[v] == Rank(v) || random() % 3 != 0) continue;
      group.push_back(Rank(v));
      old_parents.push_back(parents[v]);
      new_parents.push_back(Rank(random() % ranks));
    }
    Parents after = parents;
    for (std::size_t i = 0; i < group.size(); ++i) after[group[i].index()] = new_parents[i];
    bool own_parent = false;
    for (std::size_t i = 0; i < group.size(); ++i) own_parent |= group[i] == new_parents[i];
    const auto changed = potential_of(after, GetParam());
    const auto change = shapes.change(0, group, new_parents);
    const bool returns =
        comes_back(parents, group, old_parents) || comes_back(parents, group, new_parents);
    circles += !changed || own_parent;
    back += returns;
    ASSERT_EQ(change.has_value(), changed && !own_parent && !returns);
    if (!change) continue;
    ++made;
    ASSERT_EQ(*change, *changed - *potential_of(parents, GetParam()));
    shapes.move(0, group, new_parents);
    expect_equal(shapes, 0, after);
  }
  EXPECT_GT(made, 300);
  EXPECT_GT(circles, 300);
  EXPECT_GT(back, 300);
}

INSTANTIATE_TEST_SUITE_P(Bases, RandomShapes, testing::Values(1, 2));

TEST(TreeShapes, BasesFitSixtyBits) {
  EXPECT_EQ(TreeShapes::base_bits_for(20, 1000), 2);
  EXPECT_EQ(TreeShapes::base_bits_for(40, 1000), 1);
  EXPECT_EQ(TreeShapes::base_bits_for(60, 1000), std::nullopt);
}

TEST(TreeShapes, ChangesThatDoNotFitAreNone) {
  // A path of 31 edges fits with base 2; hung below its twin's end it would be 61 deep.
  Parents parents(62);
  for (std::size_t v = 1; v < 62; ++v) parents[v] = Rank(v == 31 ? 0 : v - 1);
  parents[0] = Rank(0);
  TreeShapes shapes(62, 1);
  shapes.add(parents);
  EXPECT_EQ(shapes.change(0, Rank(31), Rank(30)), std::nullopt);
  EXPECT_NE(shapes.change(0, Rank(31), Rank(5)), std::nullopt);
}

}  // namespace
}  // namespace forestcoll
