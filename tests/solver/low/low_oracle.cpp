#include "solver/low/low_oracle.hpp"

#include <lemon/glpk.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace forestcoll::test {
namespace {

using lemon::LpBase;

constexpr double kNever = 1e100;

struct Edge {
  double cost = kNever;
  std::vector<std::size_t> arcs;  // of the network at hand
};

// Bellman and Ford, from every rank through switches.
std::vector<std::vector<Edge>> edges(const Network& network, const std::vector<double>& prices) {
  std::vector<std::vector<Edge>> result;
  for (const NodeId source : network.ranks) {
    std::vector<Edge> best(network.graph.node_count());
    best[source.index()].cost = 0;
    for (std::size_t round = 0; round < best.size(); ++round) {
      for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
        const Arc& arc = network.graph.arcs()[a];
        if (arc.tail != source && network.is_compute(arc.tail)) continue;
        const Edge& from = best[arc.tail.index()];
        Edge& to = best[arc.head.index()];
        if (from.cost + prices[a] + 1e-13 >= to.cost) continue;
        Edge longer = from;
        longer.cost += prices[a];
        longer.arcs.push_back(a);
        to = longer;
      }
    }
    std::vector<Edge> row;
    for (const NodeId v : network.ranks) row.push_back(best[v.index()]);
    result.push_back(row);
  }
  return result;
}

bool is_low(const std::vector<std::size_t>& parent, std::size_t root, std::int32_t height) {
  for (std::size_t v = 0; v < parent.size(); ++v) {
    std::int32_t hops = 0;
    for (std::size_t u = v; u != root; u = parent[u]) {
      if (++hops > height) return false;
    }
  }
  return true;
}

struct Tree {
  double cost = kNever;
  std::vector<std::size_t> arcs;
};

Tree cheapest(const std::vector<std::vector<Edge>>& edge, std::size_t root, std::int32_t height) {
  const std::size_t ranks = edge.size();
  std::vector<std::size_t> parent(ranks, 0), best;
  double least = kNever;
  while (true) {
    double cost = 0;
    for (std::size_t v = 0; v < ranks; ++v) cost += v == root ? 0 : edge[parent[v]][v].cost;
    if (cost < least && is_low(parent, root, height)) {
      least = cost;
      best = parent;
    }
    std::size_t v = 0;
    for (; v < ranks; ++v) {
      if (v == root) continue;
      if (++parent[v] < ranks) break;
      parent[v] = 0;
    }
    if (v == ranks) break;
  }
  Tree tree{least, {}};
  for (std::size_t v = 0; v < best.size(); ++v) {
    if (v == root) continue;
    const auto& arcs = edge[best[v]][v].arcs;
    tree.arcs.insert(tree.arcs.end(), arcs.begin(), arcs.end());
  }
  return tree;
}

// What one arc takes of capacities, by number: its own once, and those of limits by weight.
using Uses = std::vector<std::pair<std::size_t, double>>;

// `uses[i][a]`: of arc a of network i; without weights any shares.
std::optional<double> rate(const std::vector<Network>& networks,
                           const std::vector<std::vector<Uses>>& uses,
                           const std::vector<double>& capacity, const Weights* weights,
                           std::int32_t height) {
  const std::size_t ranks = networks.front().ranks.size();
  std::vector<std::size_t> roots;
  for (std::size_t r = 0; r < ranks; ++r) {
    if (weights != nullptr && (*weights)[Rank(r)] == 0) continue;
    bool reaches = true;
    for (const Network& network : networks) {
      const auto edge = edges(network, std::vector<double>(network.graph.arc_count(), 1));
      reaches = reaches && cheapest(edge, r, height).cost < kNever;
    }
    if (reaches) roots.push_back(r);
    if (!reaches && weights != nullptr) return std::nullopt;
  }
  if (roots.empty()) return std::nullopt;

  lemon::GlpkLp program;
  program.messageLevel(LpBase::MESSAGE_NOTHING);
  program.max();
  const LpBase::Col worth = program.addCol();
  std::vector<LpBase::Col> price;
  LpBase::Expr all;
  for (const double c : capacity) {
    price.push_back(program.addCol());
    program.colLowerBound(price.back(), 0);
    all += c * price.back();
  }
  program.addRow(all <= 1);
  std::vector<std::vector<LpBase::Col>> cost(networks.size());
  for (auto& row : cost) {
    for (std::size_t r = 0; r < ranks; ++r) {
      row.push_back(program.addCol());
      program.colBounds(row.back(), 0, 1e3);
    }
  }
  LpBase::Expr owed;
  for (const std::size_t r : roots) {
    if (weights == nullptr) owed = LpBase::Expr();
    for (std::size_t i = 0; i < networks.size(); ++i) {
      const double share = weights != nullptr ? static_cast<double>((*weights)[Rank(r)]) : 1.0;
      owed += share * cost[i][r];
    }
    if (weights == nullptr) program.addRow(worth - owed <= 0);
  }
  if (weights != nullptr) program.addRow(worth - owed <= 0);
  program.obj(worth);

  while (true) {
    program.solve();
    bool is_done = true;
    for (std::size_t i = 0; i < networks.size(); ++i) {
      std::vector<double> prices;
      for (const Uses& of_arc : uses[i]) {
        prices.push_back(0);
        for (const auto& [j, times] : of_arc) {
          prices.back() += times * std::max(0.0, program.primal(price[j]));
        }
      }
      const auto edge = edges(networks[i], prices);
      for (const std::size_t r : roots) {
        const Tree tree = cheapest(edge, r, height);
        if (tree.cost > program.primal(cost[i][r]) - 1e-9) continue;
        LpBase::Expr sum;
        for (const std::size_t a : tree.arcs) {
          for (const auto& [j, times] : uses[i][a]) sum += times * price[j];
        }
        program.addRow(cost[i][r] - sum <= 0);
        is_done = false;
      }
    }
    if (is_done) return 1 / program.primal();
  }
}

// Of arcs, then of limits.
std::vector<double> capacities(const Network& network) {
  std::vector<double> result;
  for (const Capacity c : network.capacity) result.push_back(static_cast<double>(c));
  for (const ArcLimit& limit : network.limits) {
    result.push_back(static_cast<double>(limit.capacity));
  }
  return result;
}

std::vector<Uses> own_uses(const Network& network) {
  const std::size_t arcs = network.graph.arc_count();
  std::vector<Uses> uses;
  for (std::size_t a = 0; a < arcs; ++a) uses.push_back({{a, 1.0}});
  for (std::size_t l = 0; l < network.limits.size(); ++l) {
    for (const auto& [arc, times] : network.limits[l].uses) {
      uses[arc.index()].emplace_back(arcs + l, static_cast<double>(times));
    }
  }
  return uses;
}

}  // namespace

std::optional<double> low_rate(const Network& network, const Weights& weights,
                               std::int32_t height) {
  return rate({network}, {own_uses(network)}, capacities(network), &weights, height);
}

std::optional<double> low_allreduce_rate(const Network& network, std::int32_t height) {
  const Network backward = reversed(network);
  const std::vector<Uses> own = own_uses(network);
  std::vector<Uses> turned;
  for (const Arc& arc : backward.graph.arcs()) {
    turned.push_back(own[network.graph.find(arc.head, arc.tail).index()]);
  }
  return rate({network, backward}, {own, turned}, capacities(network), nullptr, height);
}

}  // namespace forestcoll::test
