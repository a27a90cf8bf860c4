// A tree no higher than H is a row of at most H + 1 sets of ranks, each with those before: what a
// rank of the next set costs is the cheapest route from any rank of the set at hand. So with few
// ranks the cheapest tree is the cheapest row of sets. What is still to be paid from a set on does
// not depend on the root: one table serves all.
#include "solver/low/low_trees.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <utility>

#include "forest/depths.hpp"

namespace forestcoll::solver {
namespace {

/// By rank: how deep it is, and how high what hangs below it is.
struct Depths {
  Depths(Rank root, const std::vector<Rank>& parents)
      : depth(parents.size()), below(parents.size()) {
    const auto up = [&](std::size_t v) { return parents[v].index(); };
    fill_depths(std::span(depth), root.index(), up);
    fill_below(std::span(below), root.index(), up);
  }
  std::vector<std::int32_t> depth, below;
};

// Is `u` equal to `v` or below it?
bool is_below(const std::vector<Rank>& parents, std::size_t v, std::size_t u) {
  while (u != v && parents[u].valid()) u = parents[u].index();
  return u == v;
}

}  // namespace

std::int32_t height_of(const LowTree& tree) {
  return Depths(tree.root, tree.parent).below[tree.root.index()];
}

LowTreeSearch::LowTreeSearch(const Network& network, std::int32_t height)
    : network_(network),
      ranks_(network.ranks.size()),
      height_(std::min(height, static_cast<std::int32_t>(ranks_) - 1)),
      limits_(ranks_, height_) {}

void LowTreeSearch::limit(Rank root, std::int32_t height) {
  limits_[root.index()] = std::clamp(height, 0, height_);
}

void LowTreeSearch::set_prices(const IdVector<ArcId, std::int64_t>& prices) {
  find_routes(prices);
  if (is_by_sets()) find_sets();
}

// A route goes through switches alone.
void LowTreeSearch::find_routes(const IdVector<ArcId, std::int64_t>& prices) {
  const Digraph& graph = network_.graph;
  distance_.assign(ranks_ * ranks_, kNever);
  least_.assign(ranks_, kNever);
  by_.assign(ranks_, {});
  for (std::size_t u = 0; u < ranks_; ++u) {
    const NodeId source = network_.ranks[u];
    dijkstra_.run(graph.node_count(), source, [&](NodeId v, std::int64_t so_far) {
      if (v != source && network_.is_compute(v)) return true;
      for (ArcId a = graph.first_out(v); a != graph.last_out(v); ++a.value) {
        dijkstra_.reach(graph.head(a), a, so_far + prices[a] + 1);  // of equals the shortest
      }
      return true;
    });
    for (std::size_t v = 0; v < ranks_; ++v) {
      distance_[u * ranks_ + v] = dijkstra_.distance(network_.ranks[v]);
      if (u != v) least_[v] = std::min(least_[v], between(u, v));
    }
    for (std::size_t v = 0; v < graph.node_count(); ++v) {
      by_[u].push_back(dijkstra_.by(NodeId(v)));
    }
  }
}

void LowTreeSearch::find_sets() {
  const std::size_t sets = std::size_t{1} << ranks_;
  const auto hops = static_cast<std::size_t>(height_);
  costs_.assign(hops + 1, std::vector<std::int64_t>(sets, kNever));
  next_.assign(hops + 1, std::vector<std::uint16_t>(sets, 0));
  costs_[0][sets - 1] = 0;
  sums_.assign(sets, 0);
  for (std::size_t left = 1; left <= hops; ++left) {
    // With all hops left, nothing but the root is reached.
    for (std::size_t reached = 1; reached < sets; ++reached) {
      if (left == hops && !std::has_single_bit(reached)) continue;
      extend(reached, costs_[left - 1], costs_[left], next_[left]);
    }
  }
}

void LowTreeSearch::extend(std::size_t reached, const std::vector<std::int64_t>& fewer,
                           std::vector<std::int64_t>& costs, std::vector<std::uint16_t>& next) {
  const std::size_t others = (std::size_t{1} << ranks_) - 1 - reached;
  nearest_.assign(ranks_, kNever);
  for (std::size_t u = 0; u < ranks_; ++u) {
    if ((reached >> u & 1) == 0) continue;
    for (std::size_t v = 0; v < ranks_; ++v) nearest_[v] = std::min(nearest_[v], between(u, v));
  }
  std::int64_t best = fewer[reached];
  std::size_t chosen = reached;
  sums_[0] = 0;
  for (std::size_t more = (0 - others) & others; more != 0; more = (more - others) & others) {
    const std::int64_t last = nearest_[static_cast<std::size_t>(std::countr_zero(more))];
    sums_[more] = std::min(kNever, sums_[more & (more - 1)] + last);
    const std::int64_t cost = sums_[more] + fewer[reached | more];
    if (cost >= best || sums_[more] >= kNever || fewer[reached | more] >= kNever) continue;
    best = cost;
    chosen = reached | more;
  }
  costs[reached] = best;
  next[reached] = static_cast<std::uint16_t>(chosen);
}

std::optional<LowTreeSearch::Parents> LowTreeSearch::by_sets(Rank root) const {
  std::size_t reached = std::size_t{1} << root.index();
  const auto hops = static_cast<std::size_t>(limits_[root.index()]);
  if (costs_[hops][reached] >= kNever) return std::nullopt;
  Parents parents(ranks_);
  for (std::size_t left = hops; left > 0; --left) {
    const std::size_t then = next_[left][reached];
    for (std::size_t v = 0; v < ranks_; ++v) {
      if ((then >> v & 1) == 0 || (reached >> v & 1) != 0) continue;
      for (std::size_t u = 0; u < ranks_; ++u) {
        if ((reached >> u & 1) == 0) continue;
        const Rank known = parents[v];
        if (!known.valid() || between(u, v) < between(known.index(), v)) parents[v] = Rank(u);
      }
    }
    reached = then;
  }
  return parents;
}

std::optional<LowTreeSearch::Parents> LowTreeSearch::breadth_first(Rank root) const {
  Parents parents(ranks_);
  std::vector<std::size_t> level{root.index()};
  std::vector<char> is_reached(ranks_, 0);
  is_reached[root.index()] = 1;
  std::size_t reached = 1;
  for (std::int32_t depth = 0; depth < limits_[root.index()] && reached < ranks_; ++depth) {
    std::vector<std::size_t> next;
    for (std::size_t v = 0; v < ranks_; ++v) {
      if (is_reached[v] != 0) continue;
      for (const std::size_t u : level) {
        if (between(u, v) >= kNever) continue;
        const Rank known = parents[v];
        if (!known.valid() || between(u, v) < between(known.index(), v)) parents[v] = Rank(u);
      }
      if (parents[v].valid()) next.push_back(v);
    }
    for (const std::size_t v : next) is_reached[v] = 1;
    reached += next.size();
    level = std::move(next);
  }
  return reached == ranks_ ? std::optional(std::move(parents)) : std::nullopt;
}

// One rank after the other, by the cheapest edge there is to one that is not too deep.
std::optional<LowTreeSearch::Parents> LowTreeSearch::by_cheapest_edges(Rank root) const {
  Parents parents(ranks_);
  std::vector<std::int64_t> cost(ranks_, kNever);
  std::vector<std::int32_t> depth(ranks_, -1);
  const auto attach = [&](std::size_t u, std::int32_t at) {
    depth[u] = at;
    if (at == limits_[root.index()]) return;
    for (std::size_t v = 0; v < ranks_; ++v) {
      if (depth[v] >= 0 || between(u, v) >= cost[v]) continue;
      cost[v] = between(u, v);
      parents[v] = Rank(u);
    }
  };
  attach(root.index(), 0);
  for (std::size_t reached = 1; reached < ranks_; ++reached) {
    std::size_t next = ranks_;
    for (std::size_t v = 0; v < ranks_; ++v) {
      if (depth[v] < 0 && cost[v] < kNever && (next == ranks_ || cost[v] < cost[next])) next = v;
    }
    if (next == ranks_) return std::nullopt;
    attach(next, depth[parents[next].index()] + 1);
  }
  parents[root.index()] = Rank();
  return parents;
}

void LowTreeSearch::improve(Rank root, Parents& parents) const {
  parents[root.index()] = Rank();
  while (improve_once(root, parents)) {
  }
}

// Every rank once: the cheapest parent that is not below it and leaves what is below it low enough.
bool LowTreeSearch::improve_once(Rank root, Parents& parents) const {
  const std::int32_t height = limits_[root.index()];
  bool has_improved = false;
  Depths at(root, parents);
  for (std::size_t v = 0; v < ranks_; ++v) {
    if (!parents[v].valid()) continue;
    std::size_t best = parents[v].index();
    if (between(best, v) == least_[v]) continue;
    for (std::size_t u = 0; u < ranks_; ++u) {
      if (between(u, v) >= between(best, v) || at.depth[u] + 1 + at.below[v] > height) continue;
      if (!is_below(parents, v, u)) best = u;
    }
    if (best == parents[v].index()) continue;
    parents[v] = Rank(best);
    at = Depths(root, parents);
    has_improved = true;
  }
  return has_improved;
}

std::optional<LowTree> LowTreeSearch::cheapest(Rank root, Start start) {
  if (is_by_sets()) {
    const auto parents = by_sets(root);
    return parents ? std::optional(tree_of(root, *parents)) : std::nullopt;
  }
  auto parents = start == Start::breadth_first ? breadth_first(root) : by_cheapest_edges(root);
  if (!parents) return std::nullopt;
  improve(root, *parents);
  return tree_of(root, *parents);
}

LowTree LowTreeSearch::tree_of(Rank root, const Parents& parents) const {
  LowTree tree{root, parents, {}};
  for (std::size_t v = 0; v < ranks_; ++v) {
    std::vector<ArcId> route;
    if (parents[v].valid()) {
      const auto& by = by_[parents[v].index()];
      const NodeId from = network_.ranks[parents[v].index()];
      for (NodeId at = network_.ranks[v]; at != from; at = network_.graph.tail(route.back())) {
        route.push_back(by[at.index()]);
      }
      std::ranges::reverse(route);
    }
    tree.routes.push_back(std::move(route));
  }
  return tree;
}

std::int64_t LowTreeSearch::cost_of(const LowTree& tree) const {
  std::int64_t cost = 0;
  for (std::size_t v = 0; v < ranks_; ++v) {
    if (tree.parent[v].valid()) cost += between(tree.parent[v].index(), v);
  }
  return cost;
}

}  // namespace forestcoll::solver
