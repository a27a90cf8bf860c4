// What is left of a fabric when no data takes a turn that no route of a runtime makes.
#include "solver/common/without_detours.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "choose/as_written.hpp"
#include "forestcoll/synthesize.hpp"
#include "forestcoll/verify.hpp"
#include "support/fabrics.hpp"
#include "support/files.hpp"

namespace forestcoll::testing {
namespace {

using test::FabricBuilder;

// Nodes that follow one another on some route: (before, at, after).
using Turns = std::set<std::vector<NodeId>>;

// The routes of a runtime from `v` by definition: all that are shortest, from a compute node those
// whose width is most; the width of a node is the sum of those of the links on.
struct Routes {
  const Network& network;
  NodeId peer;

  [[nodiscard]] std::int32_t hops(NodeId v, std::int32_t most) const {
    if (v == peer) return 0;
    std::int32_t least = std::numeric_limits<std::int32_t>::max();
    for (const ArcId a : links_from(v)) {
      const NodeId next = network.graph.head(a);
      if (most == 0 || (next != peer && network.is_compute(next))) continue;
      const std::int32_t rest = hops(next, most - 1);
      if (rest < std::numeric_limits<std::int32_t>::max()) least = std::min(least, rest + 1);
    }
    return least;
  }
  [[nodiscard]] Capacity width(ArcId a) const {
    const NodeId next = network.graph.head(a);
    if (next == peer) return network.capacity[a];
    Capacity total = 0;
    for (const ArcId on : shortest_from(next)) total += width(on);
    return std::min(network.capacity[a], total);
  }
  [[nodiscard]] std::vector<ArcId> shortest_from(NodeId v) const {
    const std::int32_t least = hops(v, kMostHops);
    std::vector<ArcId> on;
    for (const ArcId a : links_from(v)) {
      const NodeId next = network.graph.head(a);
      if (next != peer && network.is_compute(next)) continue;
      if (hops(next, kMostHops) == least - 1) on.push_back(a);
    }
    return on;
  }
  [[nodiscard]] std::vector<ArcId> taken_from(NodeId v) const {
    std::vector<ArcId> on = shortest_from(v);
    if (!network.is_compute(v) || on.empty()) return on;
    Capacity widest = 0;
    for (const ArcId a : on) widest = std::max(widest, width(a));
    std::erase_if(on, [&](ArcId a) { return width(a) < widest; });
    return on;
  }
  void add_turns(NodeId before, NodeId v, Turns& turns) const {
    if (v == peer) return;
    for (const ArcId a : taken_from(v)) {
      const NodeId next = network.graph.head(a);
      if (before.valid()) turns.insert({before, v, next});
      add_turns(v, next, turns);
    }
  }

 private:
  static constexpr std::int32_t kMostHops = 6;
  [[nodiscard]] std::vector<ArcId> links_from(NodeId v) const {
    std::vector<ArcId> links;
    for (ArcId a = network.graph.first_out(v); a != network.graph.last_out(v); ++a.value) {
      links.push_back(a);
    }
    return links;
  }
};

Turns turns_of_routes(const Network& network) {
  Turns turns;
  for (const NodeId peer : network.ranks) {
    for (const NodeId from : network.ranks) {
      const Routes routes{network, peer};
      if (from != peer && routes.hops(from, 6) <= 6) routes.add_turns({}, from, turns);
    }
  }
  return turns;
}

// The turns that can be made on a restricted fabric, in nodes of the whole one.
Turns turns_of(const solver::RestrictedNetwork& restricted) {
  const Digraph& graph = restricted.network.graph;
  const auto next_of = [&](NodeId v) {
    std::vector<NodeId> next;
    for (ArcId a = graph.first_out(v); a != graph.last_out(v); ++a.value) {
      NodeId head = graph.head(a);
      if (!restricted.original[head].valid()) head = graph.head(graph.first_out(head));
      next.push_back(head);
    }
    return next;
  };
  Turns turns;
  for (std::size_t n = 0; n < graph.node_count(); ++n) {
    if (!restricted.original[NodeId(n)].valid()) continue;
    for (const NodeId at : next_of(NodeId(n))) {
      if (restricted.network.is_compute(at)) continue;
      for (const NodeId after : next_of(at)) {
        turns.insert(
            {restricted.original[NodeId(n)], restricted.original[at], restricted.original[after]});
      }
    }
  }
  return turns;
}

// GB/s into the first node of the whole fabric that lies behind a node, by link of the whole one.
std::map<std::pair<NodeId, NodeId>, Ratio> links_of(const solver::RestrictedNetwork& restricted) {
  const Digraph& graph = restricted.network.graph;
  std::map<std::pair<NodeId, NodeId>, Ratio> links;
  for (std::size_t i = 0; i < graph.arc_count(); ++i) {
    const ArcId a(i);
    NodeId from = graph.tail(a);
    const NodeId to = restricted.original[graph.head(a)];
    if (!to.valid()) continue;  // counted where it goes on
    if (!restricted.original[from].valid()) from = graph.tail(graph.in(from).front());
    const Ratio width = Ratio(restricted.network.capacity[a]) * restricted.network.unit;
    auto [at, added] = links.emplace(std::pair(restricted.original[from], to), width);
    EXPECT_TRUE(added) << "a link stands there once";
  }
  return links;
}

TEST(WithoutDetours, LeavesTheRoutesOfRuntimesAndNothingElse) {
  std::size_t restricted_ones = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Network network =
        test::random_fabric(seed, {.max_compute = 6, .max_switches = 4, .one_way = seed % 2 == 0});
    const Turns routes = turns_of_routes(network);
    const auto restricted = solver::without_detours(network);
    if (!restricted) continue;
    ++restricted_ones;
    const Turns left = turns_of(*restricted);
    for (const auto& turn : routes) EXPECT_TRUE(left.contains(turn)) << "seed " << seed;
    for (const auto& turn : left) {
      EXPECT_TRUE(routes.contains(turn) || turn.front() == turn.back()) << "seed " << seed;
    }
    for (const auto& [ends, width] : links_of(*restricted)) {
      const ArcId a = network.graph.find(ends.first, ends.second);
      ASSERT_TRUE(a.valid()) << "seed " << seed;
      EXPECT_EQ(width, Ratio(network.capacity[a]) * network.unit) << "seed " << seed;
    }
  }
  EXPECT_GT(restricted_ones, 100U);
}

TEST(WithoutDetours, NoneWhereEveryTurnIsMade) {
  EXPECT_FALSE(solver::without_detours(test::hypercube(4)));
  FabricBuilder box(4, 1);
  for (std::size_t g = 0; g < 4; ++g) box.link(g, 4, 300);
  EXPECT_FALSE(solver::without_detours(box.build()));
}

// Two boxes: the switch between them stands there once for each direction.
TEST(WithoutDetours, ASwitchBetweenTwoBoxesLeadsFromOneToTheOther) {
  const Network network = test::dgx_a100(2);
  const auto restricted = solver::without_detours(network);
  ASSERT_TRUE(restricted);
  EXPECT_EQ(restricted->network.graph.node_count(), network.graph.node_count() + 2);
  EXPECT_EQ(restricted->network.graph.arc_count(), network.graph.arc_count());
}

Fabric degraded_boxes() {
  const std::string text = test::bundled_text("dgx-a100-x2-degraded");
  return *make_fabric(parse_topology(text, "degraded")->topology);
}

// No schedule of the degraded boxes has the optimum of forests, 2075/12, and ours has all that one
// can have, by the routes that the checker takes.
TEST(AsWrittenLong, SchedulesReachTheOptimumOfTheirRoutes) {
  const Fabric fabric = degraded_boxes();
  CompileOptions options;
  options.tree_count = TreeCount::as_given;
  options.synthesis.trees_per_root = {};
  const auto made = compile(fabric, options);
  ASSERT_TRUE(made) << to_string(made.errors().front());
  EXPECT_TRUE(made->verdict.ok);
  EXPECT_EQ(made->verdict.algbw, Ratio(345, 2));
  EXPECT_EQ(made->chosen.synthesis.forest.algbw, Ratio(345, 2));
  EXPECT_EQ(made->chosen.synthesis.forest.optimum, Ratio(345, 2));
  EXPECT_EQ(made->chosen.synthesis.optimum_of_paths, Ratio(2075, 12));
  // The trees have paths of the whole fabric.
  auto verdict = verify(to_forest_json(made->chosen.synthesis.forest, fabric.topology), "forest",
                        &fabric.topology, {});
  ASSERT_TRUE(verdict);
  EXPECT_TRUE(verdict->ok);
  EXPECT_EQ(verdict->algbw, Ratio(345, 2));
}

// Twice as many trees are never worse by a runtime's routes.
TEST(AsWrittenLong, MoreTreesAreNoWorse) {
  const Fabric fabric = degraded_boxes();
  CompileOptions options;
  options.tree_count = TreeCount::as_given;
  Ratio before = 0;
  for (const std::int64_t k : {2, 4, 8}) {
    options.synthesis.trees_per_root = {TreesPerRoot::Mode::fixed, k};
    const auto made = compile(fabric, options);
    ASSERT_TRUE(made) << to_string(made.errors().front());
    ASSERT_TRUE(made->verdict.ok && made->verdict.algbw);
    EXPECT_GE(*made->verdict.algbw, before) << k;
    EXPECT_EQ(made->chosen.synthesis.forest.k, k);
    before = *made->verdict.algbw;
  }
  EXPECT_GE(before, Ratio(1200, 7));
}

// Forests say their paths: nothing is left out for them.
TEST(AsWrittenLong, ForestsTakeDetours) {
  const Fabric fabric = degraded_boxes();
  const auto found = choose::synthesize_as_written(fabric.network, {}, Format::forest);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->size(), 1U);
  EXPECT_EQ(found->front().forest.algbw, Ratio(2075, 12));
}

}  // namespace
}  // namespace forestcoll::testing
