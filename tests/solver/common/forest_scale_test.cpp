#include "solver/common/forest_scale.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "forest/arc_counts.hpp"
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
