#include "solver/common/forest_scale.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>

#include "forest/arc_counts.hpp"
#include "forest/symmetry.hpp"
#include "forestcoll/pack.hpp"
#include "forestcoll/rate.hpp"
#include "schedule/forests.hpp"
#include "support/fabrics.hpp"

namespace forestcoll {
namespace {

// Three ranks on a switch, node 3; rank 1 has half of the bandwidth of the others.
Network three_on_a_switch() {
  test::FabricBuilder builder(3, 1);
  for (std::size_t v = 0; v < 3; ++v) builder.link(v, 3, v == 1 ? 1 : 2);
  return builder.build();
}

TEST(ForestScale, IsThatOfTheFullestArc) {
  const Network network = three_on_a_switch();
  const Forest forest =
      testing::make_forest(3, {testing::star(3, 0, 5), testing::path(3, 1, 2)}, 3);
  const auto counts = count_on_arcs(forest, network);
  ASSERT_TRUE(counts.has_value());
  const auto on = [&](int tail, int head) {
    return (*counts)[network.graph.find(NodeId(tail), NodeId(head))];
  };
  EXPECT_EQ(on(0, 3), 10);  // to both of the others
  EXPECT_EQ(on(3, 0), 2);
  EXPECT_EQ(on(1, 3), 2);
  EXPECT_EQ(on(3, 1), 5);
  EXPECT_EQ(on(2, 3), 2);
  EXPECT_EQ(on(3, 2), 7);
  EXPECT_EQ(solver::forest_scale(network, forest), Ratio(5));
}

// Of trees with their images under one generator or several, and of some that have none: by all
// paths of all trees.
TEST(CountOnArcs, CountsImagesAsTheTreesThatTheyAre) {
  std::size_t images = 0;
  for (const Network& network :
       {test::dgx_a100(4), test::torus({3, 4}), test::one_percent_degraded(test::dgx_a100(5), 1)}) {
    const Weights weights = uniform_weights(network);
    const auto packing =
        pack(network, weights, scale_to_optimum(network, optimal_rate(network, weights)));
    ASSERT_TRUE(packing);
    for (const Forest& forest : {packing->forest, packing->forest.reversed()}) {
      images += forest.tree_count() - forest.base_trees().size();
      const Network along = forest.is_in_forest() ? reversed(network) : network;
      IdVector<ArcId, std::int64_t> expected(along.graph.arc_count(), 0);
      for (std::size_t t = 0; t < forest.tree_count(); ++t) {
        const Forest::Tree& tree = forest.tree(TreeId(t));
        for (std::size_t v = 0; v < forest.rank_count(); ++v) {
          if (Rank(v) == tree.root) continue;
          const auto path = forest.path(TreeId(t), Rank(v));
          for (std::size_t i = 0; i + 1 < path.size(); ++i) {
            expected[along.graph.find(path[i], path[i + 1])] += tree.multiplicity;
          }
        }
      }
      EXPECT_EQ(count_on_arcs(forest, along), expected);
    }
  }
  EXPECT_GT(images, 50U);
}

TEST(CountOnArcs, SaysWhenASumDoesNotFit) {
  constexpr std::int64_t kHalf = std::numeric_limits<std::int64_t>::max() / 2 + 1;
  const Network network = three_on_a_switch();
  const auto counted = [&](std::int64_t multiplicity) {
    return count_on_arcs(testing::make_forest(3, {testing::star(3, 0, multiplicity)}, 3), network)
        .has_value();
  };
  EXPECT_TRUE(counted(kHalf - 1));
  EXPECT_FALSE(counted(kHalf)) << "twice over the arc from the root";
}

}  // namespace
}  // namespace forestcoll
