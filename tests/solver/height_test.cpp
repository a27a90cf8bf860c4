#include "solver/height.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <random>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "forestcoll/pack.hpp"
#include "solver/core.hpp"
#include "solver/height_flat.hpp"
#include "solver/height_shortest.hpp"
#include "support/fabrics.hpp"
#include "support/oracles.hpp"

namespace forestcoll {
namespace {

using solver::Core;
using solver::Resources;

/// A forest under a pass, with what its routes have left over.
struct Rows {
  Core core;
  RouteTable table;
  std::vector<Forest::Tree> trees;
  std::vector<Route> routes;
  Resources resources;

  explicit Rows(const Network& network)
      : core(solver::make_core(network, network.capacity)), table(core.compute) {
    for (std::size_t a = 0; a < core.graph.arc_count(); ++a) {
      table.add_segment(core.segment(ArcId(a)));
    }
    resources = solver::plain_resources(core.capacity);
  }

  [[nodiscard]] std::size_t ranks() const { return core.compute.size(); }
  [[nodiscard]] solver::TreeRows view() { return {core, table, trees, routes}; }

  /// The route over the one arc from rank to rank.
  [[nodiscard]] Route edge(std::size_t from, std::size_t to) const {
    for (std::size_t a = 0; a < core.graph.arc_count(); ++a) {
      if (core.graph.tail(ArcId(a)) == core.compute[from] &&
          core.graph.head(ArcId(a)) == core.compute[to]) {
        return {PrefixId(from), SegmentId(a)};
      }
    }
    return {};
  }

  /// Adds a tree of edges parent[v] → v over single arcs; the root is its own parent.
  void add(std::int64_t multiplicity, const std::vector<std::size_t>& parent) {
    std::size_t root = 0;
    for (std::size_t v = 0; v < parent.size(); ++v) {
      if (parent[v] == v) root = v;
      routes.push_back(parent[v] == v ? Route{} : edge(parent[v], v));
    }
    trees.push_back({Rank(root), multiplicity, height_of(trees.size(), root)});
  }

  [[nodiscard]] std::int32_t height_of(std::size_t tree, std::size_t root) const {
    std::int32_t height = 0;
    for (std::size_t v = 0; v < ranks(); ++v) {
      std::int32_t depth = 0;
      for (std::size_t u = v; u != root; ++depth) {
        u = table.origin(routes[tree * ranks() + u].prefix).index();
      }
      height = std::max(height, depth);
    }
    return height;
  }

  [[nodiscard]] std::int32_t max_height() const {
    std::int32_t height = 0;
    for (const auto& tree : trees) height = std::max(height, tree.height);
    return height;
  }

  /// Makes the residual what the capacities are above the trees' loads.
  void take_loads() {
    resources.residual = core.capacity;
    for (const auto& [arc, load] : loads()) {
      resources.residual[resources.of[arc]] -= load * resources.weight[arc];
    }
  }
  /// Makes the capacities just what the trees need, and `spare` more everywhere.
  void fit_capacities(Capacity spare) {
    core.capacity.assign(core.graph.arc_count(), spare);
    for (const auto& [arc, load] : loads()) {
      core.capacity[resources.of[arc]] += load * resources.weight[arc];
    }
    take_loads();
  }

  [[nodiscard]] std::map<ArcId, std::int64_t> loads() const {
    std::map<ArcId, std::int64_t> result;
    for (std::size_t t = 0; t < trees.size(); ++t) {
      for (std::size_t v = 0; v < ranks(); ++v) {
        const Route route = routes[t * ranks() + v];
        if (!route.valid()) continue;
        result[ArcId(route.last.value)] += trees[t].multiplicity;
        for (PrefixId p = route.prefix; table.segment(p).valid(); p = table.before(p)) {
          result[ArcId(table.segment(p).value)] += trees[t].multiplicity;
        }
      }
    }
    return result;
  }

  [[nodiscard]] std::map<Rank, std::int64_t> rooted() const {
    std::map<Rank, std::int64_t> result;
    for (const auto& tree : trees) result[tree.root] += tree.multiplicity;
    return result;
  }

  /// What a pass must leave right, by definition. Empty where all holds.
  [[nodiscard]] std::string flaw() const {
    if (routes.size() != trees.size() * ranks()) return "rows and trees differ in number";
    for (std::size_t t = 0; t < trees.size(); ++t) {
      const std::string name = "tree " + std::to_string(t);
      if (t > 0 && trees[t].root < trees[t - 1].root) return name + " is out of order";
      for (std::size_t v = 0; v < ranks(); ++v) {
        std::size_t u = v;
        for (std::size_t steps = 0; u != trees[t].root.index(); ++steps) {
          const Route route = routes[t * ranks() + u];
          if (!route.valid() || steps > ranks()) return name + " does not span";
          const auto nodes = table.nodes(route);
          if (nodes.back() != core.compute[u]) return name + " has a route to elsewhere";
          for (std::size_t i = 1; i + 1 < nodes.size(); ++i) {
            if (core.rank_of[nodes[i]].valid()) return name + " passes through a rank";
          }
          u = table.origin(route.prefix).index();
        }
      }
      if (routes[t * ranks() + trees[t].root.index()].valid())
        return name + " has a route to its root";
      if (trees[t].height != height_of(t, trees[t].root.index()))
        return name + " has another height";
    }
    IdVector<ArcId, Capacity> left = core.capacity;
    for (const auto& [arc, load] : loads()) left[resources.of[arc]] -= load * resources.weight[arc];
    for (std::size_t a = 0; a < left.size(); ++a) {
      if (left[ArcId(a)] < 0) return "arc " + std::to_string(a) + " is overloaded";
    }
    if (left != resources.residual) return "the residual is not what is left";
    return {};
  }
};

Network complete(std::size_t ranks) {
  test::FabricBuilder builder(ranks);
  for (std::size_t v = 0; v < ranks; ++v) {
    for (std::size_t w = 0; w < v; ++w) builder.link(v, w, 1);
  }
  return builder.build();
}

void lower(Rows& rows, std::int32_t bound, Effort effort = Effort::normal) {
  lower_heights(rows.view(), rows.resources, bound, effort, {});
}

TEST(LowerHeights, ExchangesTheEdgesIntoANode) {
  Rows rows(complete(4));
  rows.add(1, {0, 0, 1, 2});  // 0 → 1 → 2 → 3
  rows.add(1, {1, 1, 1, 0});  // 1 → 0 → 3, 1 → 2: node 3 changes places
  rows.fit_capacities(0);
  lower(rows, 2);
  EXPECT_EQ(rows.flaw(), "");
  EXPECT_EQ(rows.trees[0].height, 2);
  EXPECT_EQ(rows.trees[1].height, 2);
}

TEST(LowerHeights, SplitsATreeOfLargerMultiplicity) {
  Rows rows(complete(4));
  rows.add(1, {0, 0, 1, 2});
  rows.add(3, {1, 1, 1, 0});
  rows.fit_capacities(0);
  lower(rows, 2);
  EXPECT_EQ(rows.flaw(), "");
  EXPECT_EQ(rows.max_height(), 2);
  EXPECT_EQ(rows.rooted(), (std::map<Rank, std::int64_t>{{Rank(0), 1}, {Rank(1), 3}}));
  EXPECT_EQ(rows.trees.size(), 3U);
}

TEST(LowerHeights, MovesToSpareCapacity) {
  Rows rows(complete(5));
  rows.add(2, {0, 0, 1, 2, 3});
  rows.fit_capacities(2);
  lower(rows, 1);
  EXPECT_EQ(rows.flaw(), "");
  EXPECT_EQ(rows.max_height(), 1);
}

TEST(LowerHeights, TreesThatAreLowEnoughStayAsTheyAre) {
  Rows rows(complete(4));
  rows.add(1, {0, 0, 1, 2});
  rows.fit_capacities(5);
  const auto before = rows.routes;
  lower(rows, 3);
  EXPECT_EQ(rows.routes, before);
}

TEST(LowerHeights, StopsWhereItIsAskedTo) {
  Rows rows(complete(4));
  rows.add(1, {0, 0, 1, 2});
  rows.fit_capacities(5);
  std::stop_source source;
  source.request_stop();
  lower_heights(rows.view(), rows.resources, 1, Effort::normal, source.get_token());
  EXPECT_EQ(rows.flaw(), "");
  EXPECT_EQ(rows.max_height(), 3);
}

TEST(LowerHeights, ExchangesWholeGroups) {
  // Pairs of ranks joined by wide links. The two trees enter pairs 1 and 2 in an order that makes
  // one of them high, and no single node can change places: each would be its own ancestor.
  test::FabricBuilder builder(6);
  for (std::size_t v = 0; v < 6; v += 2) builder.link(v, v + 1, 100);
  for (std::size_t v = 0; v < 6; ++v) {
    for (std::size_t w = v / 2 * 2 + 2; w < 6; ++w) builder.link(v, w, 1);
  }
  Rows rows(builder.build());
  rows.add(1, {0, 0, 1, 2, 3, 4});  // 0 → 1 → 2 → 3 → 4 → 5
  rows.add(1, {0, 0, 3, 0, 5, 0});  // 0 → 1, 0 → 3 → 2, 0 → 5 → 4
  const Core wide = rows.core;
  rows.fit_capacities(0);
  rows.core.capacity = wide.capacity;  // what makes groups
  rows.resources.residual.assign(rows.core.graph.arc_count(), 0);
  lower(rows, 3);
  EXPECT_EQ(rows.max_height(), 3);
  EXPECT_EQ(rows.height_of(0, 0), rows.trees[0].height);
  EXPECT_EQ(rows.height_of(1, 0), rows.trees[1].height);
}

// Trees that take whatever way a random search finds, on a fabric that just carries them.
// `shared`: arcs of one resource, with weights, as in the base trees of a symmetric forest.
Rows random_rows(std::uint64_t seed, bool shared) {
  const Network network = test::random_fabric(
      seed, {.max_compute = 4 + seed % 9, .max_switches = 3, .one_way = seed % 2 == 0});
  Rows rows(network);
  std::mt19937_64 random(seed);
  const Digraph& graph = rows.core.graph;
  std::vector<Rank> roots(1 + random() % 6);
  for (Rank& root : roots) root = Rank(random() % rows.ranks());
  std::sort(roots.begin(), roots.end());
  for (const Rank root : roots) {
    std::vector<Route> row(rows.ranks());
    std::vector<PrefixId> at(graph.node_count());
    at[rows.core.compute[root.index()].index()] = PrefixId(root.value);
    std::size_t reached = 1;
    while (reached < rows.ranks()) {
      const ArcId arc(random() % graph.arc_count());
      const NodeId from = graph.tail(arc), to = graph.head(arc);
      if (!at[from.index()].valid() || at[to.index()].valid()) continue;
      const Rank rank = rows.core.rank_of[to];
      if (!rank.valid()) {
        at[to.index()] = rows.table.extend(at[from.index()], SegmentId(arc.value));
        continue;
      }
      row[rank.index()] = {at[from.index()], SegmentId(arc.value)};
      at[to.index()] = PrefixId(rank.value);
      ++reached;
    }
    rows.routes.insert(rows.routes.end(), row.begin(), row.end());
    rows.trees.push_back({root, static_cast<std::int64_t>(1 + random() % 4), 0});
    rows.trees.back().height = rows.height_of(rows.trees.size() - 1, root.index());
  }
  for (std::size_t a = 0; a < graph.arc_count() && shared; ++a) {
    rows.resources.of[ArcId(a)] = ArcId(a - a % 3);
    rows.resources.weight[ArcId(a)] = static_cast<std::int64_t>(1 + random() % 3);
  }
  rows.fit_capacities(static_cast<Capacity>(random() % 2));
  return rows;
}

TEST(LowerHeights, KeepsForestsWholeOnRandomFabrics) {
  int lowered = 0, split = 0;
  for (std::uint64_t seed = 0; seed < 800; ++seed) {
    Rows rows = random_rows(seed, seed % 4 > 1);
    const auto rooted = rows.rooted();
    const std::int32_t before = rows.max_height();
    const std::size_t trees = rows.trees.size();
    lower(rows, 1, Effort::fast);
    ASSERT_EQ(rows.flaw(), "") << "seed " << seed;
    ASSERT_EQ(rows.rooted(), rooted) << "seed " << seed;
    ASSERT_LE(rows.max_height(), before) << "seed " << seed;
    lowered += rows.max_height() < before;
    split += rows.trees.size() > trees;
  }
  EXPECT_GT(lowered, 150);
  EXPECT_GT(split, 40);
}

// The greatest effort looks farther; here it is stopped wherever it happens to be.
TEST(LowerHeights, KeepsForestsWholeWhereverItIsStopped) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    Rows rows = random_rows(seed, seed % 4 > 1);
    const auto rooted = rows.rooted();
    std::stop_source source;
    std::jthread timer([&](const std::stop_token&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5 + seed % 7));
      source.request_stop();
    });
    lower_heights(rows.view(), rows.resources, 1, Effort::max, source.get_token());
    ASSERT_EQ(rows.flaw(), "") << "seed " << seed;
    ASSERT_EQ(rows.rooted(), rooted) << "seed " << seed;
  }
}

TEST(LowerHeights, IsTheSameEachTime) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rows first = random_rows(seed, false), second = random_rows(seed, false);
    lower(first, 1);
    lower(second, 1);
    EXPECT_EQ(first.routes, second.routes);
  }
}

// Roots and multiplicities alone.
Rows roots_of(const Network& network, std::int64_t k, const IdVector<ArcId, Capacity>& capacity) {
  Rows rows(network);
  rows.core = solver::make_core(network, capacity);
  rows.table = RouteTable(rows.core.compute);
  for (std::size_t a = 0; a < rows.core.graph.arc_count(); ++a) {
    rows.table.add_segment(rows.core.segment(ArcId(a)));
  }
  rows.resources = solver::plain_resources(rows.core.capacity);
  for (std::size_t r = 0; r < rows.ranks(); ++r) rows.trees.push_back({Rank(r), k, 0});
  return rows;
}

Rows at_the_optimum(const Network& network) {
  const Scaling scaling =
      scale_to_optimum(network, optimal_rate(network, uniform_weights(network)));
  return roots_of(network, scaling.k, scaling.capacity);
}

TEST(PackShortest, PacksToriAndHypercubesAtTheOptimum) {
  for (const auto& [network, height] :
       {std::pair(test::torus({4, 4}), 4), std::pair(test::torus({5, 4, 3}), 5),
        std::pair(test::torus({8, 8}), 8), std::pair(test::hypercube(5), 5)}) {
    Rows rows = at_the_optimum(network);
    ASSERT_TRUE(solver::pack_shortest(rows.view(), rows.resources, 1 << 20, {}));
    EXPECT_EQ(rows.flaw(), "");
    for (const auto& tree : rows.trees) EXPECT_EQ(tree.height, height);
  }
}

TEST(PackShortest, ReplacesAForest) {
  const Network network = test::torus({4, 4});
  Rows rows(network);
  // 0 → 1 → 2 → … → 15 row by row, there and back.
  std::vector<std::size_t> parent(16, 0);
  const std::vector<std::size_t> way = {0, 1, 2, 3, 7, 6, 5, 4, 8, 9, 10, 11, 15, 14, 13, 12};
  for (std::size_t i = 1; i < way.size(); ++i) parent[way[i]] = way[i - 1];
  rows.add(1, parent);
  rows.fit_capacities(1);
  ASSERT_EQ(rows.max_height(), 15);
  ASSERT_TRUE(solver::pack_shortest(rows.view(), rows.resources, 1 << 10, {}));
  EXPECT_EQ(rows.flaw(), "");
  EXPECT_EQ(rows.max_height(), 4);
}

TEST(PackShortest, LeavesAllAsItWasWhereItCannot) {
  // A ring with one link too few for a shortest tree from 0, and a fabric with a switch.
  test::FabricBuilder ring(4);
  for (std::size_t v = 0; v < 4; ++v) ring.link(v, (v + 1) % 4, 1);
  Rows rows(ring.build());
  rows.add(1, {0, 0, 1, 2});
  rows.fit_capacities(0);
  // All arcs of the core carry one more, but 0 → 3, which shortest trees need.
  rows.core.capacity.assign(rows.core.graph.arc_count(), 2);
  rows.core.capacity[ArcId(rows.edge(0, 3).last.value)] = 0;
  rows.take_loads();
  const auto before = rows.routes;
  EXPECT_FALSE(solver::pack_shortest(rows.view(), rows.resources, 1 << 10, {}));
  EXPECT_EQ(rows.routes, before);
  EXPECT_EQ(rows.flaw(), "");

  Rows switched = at_the_optimum(test::dgx_a100(1));
  EXPECT_FALSE(solver::pack_shortest(switched.view(), switched.resources, 1 << 10, {}));
  Rows large = at_the_optimum(test::torus({4, 4}));
  EXPECT_FALSE(solver::pack_shortest(large.view(), large.resources, 16 * 64 - 1, {}));
}

TEST(PackShortest, SharesOrbitsAmongBaseTrees) {
  // The torus moves every rank to every other: one root, four trees, and the arcs of one direction
  // are one resource, each of whose images carries what the base trees take from all of them.
  const Network network = test::torus({6, 6});
  Rows rows = at_the_optimum(network);
  rows.trees.resize(1);
  std::map<std::pair<std::int32_t, std::int32_t>, ArcId> first;
  const auto direction = [](NodeId from, NodeId to) {
    const auto mod = [](std::int32_t d) { return (d % 6 + 6) % 6; };
    return std::pair(mod(to.value % 6 - from.value % 6), mod(to.value / 6 - from.value / 6));
  };
  for (std::size_t a = 0; a < rows.core.graph.arc_count(); ++a) {
    const auto key = direction(rows.core.graph.tail(ArcId(a)), rows.core.graph.head(ArcId(a)));
    rows.resources.of[ArcId(a)] = first.try_emplace(key, ArcId(a)).first->second;
  }
  ASSERT_EQ(first.size(), 4U);
  ASSERT_TRUE(solver::pack_shortest(rows.view(), rows.resources, 1 << 10, {}));
  std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> used;
  for (const Route route : rows.routes) {
    if (!route.valid()) continue;
    const ArcId arc(route.last.value);
    ++used[direction(rows.core.graph.tail(arc), rows.core.graph.head(arc))];
  }
  for (const auto& [key, count] : used) EXPECT_EQ(count, 35);
  for (const auto& tree : rows.trees) EXPECT_EQ(tree.height, 6);
}

TEST(PackFlat, PacksStarsWhereThereIsRoom) {
  for (const Network& network : {test::fat_tree(4), test::dragonfly(4, 2, 2), test::dgx_a100(1)}) {
    Rows rows = at_the_optimum(network);
    ASSERT_TRUE(solver::pack_flat(rows.view(), rows.resources, 1, {}));
    EXPECT_EQ(rows.flaw(), "");
    EXPECT_EQ(rows.max_height(), 1);
  }
}

TEST(PackFlat, PacksTwoLevelsOfGroups) {
  for (const Network& network :
       {test::jellyfish(16, 4, 5, 1), test::dgx_a100(16), test::h100_rails(16, 2)}) {
    Rows rows = at_the_optimum(network);
    ASSERT_FALSE(solver::pack_flat(rows.view(), rows.resources, 1, {}));
    ASSERT_TRUE(solver::pack_flat(rows.view(), rows.resources, 2, {}));
    EXPECT_EQ(rows.flaw(), "");
    EXPECT_EQ(rows.max_height(), 2);
  }
}

TEST(PackFlat, LeavesAllAsItWasWhereItCannot) {
  Rows rows = at_the_optimum(test::torus({4, 4}));
  for (const std::int32_t height : {1, 2}) {
    EXPECT_FALSE(solver::pack_flat(rows.view(), rows.resources, height, {}));
    EXPECT_EQ(rows.resources.residual, rows.core.capacity);
    EXPECT_EQ(rows.trees.size(), 16U);
    EXPECT_TRUE(rows.routes.empty());
  }
}

TEST(LowerHeights, ForestsReachTheirBoundOnNamedFabrics) {
  const auto height_over_bound = [](const Network& network) {
    const Weights weights = uniform_weights(network);
    const Scaling scaling = scale_to_optimum(network, optimal_rate(network, weights));
    const auto packing = pack(network, weights, scaling);
    EXPECT_EQ(test::find_forest_flaw(network, weights, packing->scaling, packing->forest), "");
    return packing->forest.max_height() - height_lower_bound(network, weights, scaling);
  };
  EXPECT_EQ(height_over_bound(test::torus({4, 4})), 0);
  EXPECT_EQ(height_over_bound(test::torus({8, 8})), 0);
  EXPECT_EQ(height_over_bound(test::torus({5, 4, 3})), 0);
  EXPECT_EQ(height_over_bound(test::hypercube(6)), 0);
  EXPECT_EQ(height_over_bound(test::dgx_a100(16)), 0);
  EXPECT_EQ(height_over_bound(test::h100_rails(4, 2)), 0);
  EXPECT_EQ(height_over_bound(test::fat_tree(8)), 0);
  EXPECT_EQ(height_over_bound(test::dragonfly(4, 2, 2)), 0);
  EXPECT_EQ(height_over_bound(test::jellyfish(16, 4, 5, 1)), 0);
}

}  // namespace
}  // namespace forestcoll
