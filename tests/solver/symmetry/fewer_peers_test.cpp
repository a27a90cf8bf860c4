// Forests with fewer peers, checked by definition.
#include "solver/symmetry/fewer_peers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "forestcoll/pack.hpp"
#include "support/fabrics.hpp"
#include "support/oracles.hpp"

namespace forestcoll {
namespace {

// By going through all trees.
std::size_t count_peers(const Forest& forest) {
  std::vector<std::set<Rank>> to(forest.rank_count()), from(forest.rank_count());
  for (std::size_t t = 0; t < forest.tree_count(); ++t) {
    for (std::size_t v = 0; v < forest.rank_count(); ++v) {
      const Rank parent = forest.parent(TreeId(t), Rank(v));
      if (!parent.valid()) continue;
      to[parent.index()].insert(Rank(v));
      from[v].insert(parent);
    }
  }
  std::size_t most = 0;
  for (const auto* ends : {&to, &from}) {
    for (const auto& peers : *ends) most = std::max(most, peers.size());
  }
  return most;
}

struct Case {
  std::string name;
  Network network;
  int levels;
  std::size_t peers, before;
  std::int32_t height;
};

TEST(FewerPeersLong, OfStarsAtTheSameRate) {
  for (const Case& each :
       std::vector<Case>{{"fat tree of 128", test::fat_tree(8), 2, 22, 127, 2},
                         {"fat tree of 128, three levels", test::fat_tree(8), 3, 13, 127, 3},
                         {"A100 x64", test::dgx_a100(64), 2, 21, 70, 3},
                         {"A100 x23: no number divides 23", test::dgx_a100(23), 2, 15, 29, 3}}) {
    const Weights weights = uniform_weights(each.network);
    const auto packing = pack(each.network, weights,
                              scale_to_optimum(each.network, optimal_rate(each.network, weights)));
    ASSERT_TRUE(packing) << each.name;
    const auto fewer = solver::with_fewer_peers(each.network, packing->forest, each.levels);
    ASSERT_TRUE(fewer) << each.name;
    EXPECT_EQ(test::find_forest_flaw(each.network, weights, packing->scaling, fewer->forest), "")
        << each.name;
    EXPECT_EQ(fewer->before, each.before) << each.name;
    EXPECT_EQ(fewer->before, count_peers(packing->forest)) << each.name;
    EXPECT_EQ(fewer->peers, each.peers) << each.name;
    EXPECT_EQ(fewer->peers, count_peers(fewer->forest)) << each.name;
    EXPECT_EQ(fewer->forest.max_height(), each.height) << each.name;
  }
}

// Of a reduce-scatter too, whose trees run towards their roots.
TEST(FewerPeers, OfTreesThatRunInwards) {
  const Network network = test::fat_tree(6), turned = reversed(network);
  const Weights weights = uniform_weights(network);
  const auto packing =
      pack(turned, weights, scale_to_optimum(turned, optimal_rate(turned, weights)));
  ASSERT_TRUE(packing);
  const auto fewer = solver::with_fewer_peers(network, packing->forest.reversed(), 2);
  ASSERT_TRUE(fewer);
  EXPECT_TRUE(fewer->forest.is_in_forest());
  EXPECT_LT(fewer->peers, fewer->before);
  EXPECT_EQ(test::find_forest_flaw(turned, weights, packing->scaling, fewer->forest.reversed()),
            "");
}

// Boxes of 4 GPUs on a switch of their own that carries what their stars need and no more: a
// division into boxes would load it eight times as much.
TEST(FewerPeers, NeverLoadsALinkMore) {
  constexpr std::size_t kBoxes = 8, kInBox = 4;
  test::FabricBuilder builder(kBoxes * kInBox);
  const std::size_t core = builder.add_switch();
  for (std::size_t box = 0; box < kBoxes; ++box) {
    const std::size_t inner = builder.add_switch();
    for (std::size_t gpu = box * kInBox; gpu < (box + 1) * kInBox; ++gpu) {
      builder.link(gpu, inner, kInBox - 1);
      builder.link(gpu, core, (kBoxes - 1) * kInBox);
    }
  }
  const Network network = builder.build();
  const Weights weights = uniform_weights(network);
  const auto packing =
      pack(network, weights, scale_to_optimum(network, optimal_rate(network, weights)));
  ASSERT_TRUE(packing);
  for (const int levels : {2, 3}) {
    const auto fewer = solver::with_fewer_peers(network, packing->forest, levels);
    if (!fewer) continue;
    EXPECT_EQ(test::find_forest_flaw(network, weights, packing->scaling, fewer->forest), "");
  }
}

TEST(FewerPeers, NeedASymmetryThatMovesAll) {
  const Network whole = test::dgx_a100(16);
  const Network damaged = test::derated(
      whole, whole.ranks[0], whole.graph.head(whole.graph.first_out(whole.ranks[0])), Ratio(1, 2));
  for (const Network& network : {test::random_regular(40, 4, 1), damaged}) {
    const Weights weights = uniform_weights(network);
    const auto packing =
        pack(network, weights, scale_to_optimum(network, optimal_rate(network, weights)));
    ASSERT_TRUE(packing);
    EXPECT_FALSE(solver::with_fewer_peers(network, packing->forest, 2));
  }
}

}  // namespace
}  // namespace forestcoll
