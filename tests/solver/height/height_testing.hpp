// Forests under the passes that make trees lower, and what such a pass must leave right.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "forest/route_table.hpp"
#include "forestcoll/forest.hpp"
#include "solver/common/core.hpp"
#include "solver/height/height.hpp"
#include "support/fabrics.hpp"

namespace forestcoll::test {

/// A forest under a pass, with what its routes have left over.
struct Rows {
  solver::Core core;
  RouteTable table;
  std::vector<Forest::Tree> trees;
  std::vector<Route> routes;
  solver::Resources resources;

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
            if (std::find(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(i),
                          nodes[i]) != nodes.begin() + static_cast<std::ptrdiff_t>(i)) {
              return name + " passes a switch twice";
            }
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

// Trees that take whatever way a random search finds, on a fabric that just carries them.
// `shared`: arcs of one resource, with weights, as in the base trees of a symmetric forest.
inline Rows random_rows(std::uint64_t seed, bool shared) {
  const Network network = random_fabric(
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

/// A fabric of links between any two ranks.
inline Network complete_fabric(std::size_t ranks) {
  FabricBuilder builder(ranks);
  for (std::size_t v = 0; v < ranks; ++v) {
    for (std::size_t w = 0; w < v; ++w) builder.link(v, w, 1);
  }
  return builder.build();
}

}  // namespace forestcoll::test
