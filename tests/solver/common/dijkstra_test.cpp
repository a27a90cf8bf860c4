#include "solver/common/dijkstra.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "support/fabrics.hpp"

namespace forestcoll {
namespace {

using solver::Dijkstra;

// By definition: as long as an arc leads to its head sooner, it is taken.
std::vector<std::int64_t> relaxed_distances(const Digraph& graph,
                                            const std::vector<std::int64_t>& length) {
  std::vector<std::int64_t> distance(graph.node_count(), Dijkstra::kUnreached);
  distance[0] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t a = 0; a < graph.arc_count(); ++a) {
      std::int64_t& at_head = distance[graph.head(ArcId(a)).index()];
      const std::int64_t through = distance[graph.tail(ArcId(a)).index()] + length[a];
      if (through >= at_head) continue;
      at_head = through;
      changed = true;
    }
  }
  return distance;
}

TEST(Dijkstra, FindsTheShortestRoutes) {
  Dijkstra search;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Digraph graph = test::random_fabric(seed, {.one_way = seed % 2 == 0}).graph;
    std::mt19937_64 random(seed);
    std::vector<std::int64_t> length(graph.arc_count());
    for (std::int64_t& one : length) one = static_cast<std::int64_t>(random() % 5);
    search.run(graph.node_count(), NodeId(0), [&](NodeId v, std::int64_t distance) {
      EXPECT_EQ(distance, search.distance(v));
      for (ArcId a = graph.first_out(v); a != graph.last_out(v); ++a.value) {
        search.reach(graph.head(a), a, distance + length[a.index()]);
      }
      return true;
    });
    const auto expected = relaxed_distances(graph, length);
    EXPECT_TRUE(
        std::ranges::is_sorted(search.reached(), {}, [&](NodeId v) { return search.distance(v); }));
    for (std::size_t v = 0; v < graph.node_count(); ++v) {
      ASSERT_EQ(search.distance(NodeId(v)), expected[v]) << "seed " << seed;
      const ArcId by = search.by(NodeId(v));
      ASSERT_EQ(by.valid(), v != 0 && expected[v] < Dijkstra::kUnreached);
      if (!by.valid()) continue;
      EXPECT_EQ(graph.head(by), NodeId(v));
      EXPECT_EQ(expected[graph.tail(by).index()] + length[by.index()], expected[v]);
    }
  }
}

TEST(Dijkstra, EndsWhenItIsTold) {
  Dijkstra search;
  search.run(3, NodeId(0), [&](NodeId v, std::int64_t distance) {
    search.reach(NodeId(v.index() + 1), ArcId(v.index()), distance + 1);
    return v.index() < 1;
  });
  EXPECT_EQ(search.reached(), (std::vector<NodeId>{NodeId(0), NodeId(1)}));
  EXPECT_EQ(search.distance(NodeId(2)), 2) << "seen, but not gone on from";
}

}  // namespace
}  // namespace forestcoll
