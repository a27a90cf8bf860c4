// The dual side of cheapest arborescences (Bock 1971; Fulkerson 1974). Sets of nodes have prices,
// and no arc costs less than the prices of all sets that it enters. An arborescence enters each set
// that its root is not in, so it costs at least the prices of these sets.
//
// One family of sets serves all roots: a node, or a set in place of its nodes, gets as its price
// what the cheapest arc into it costs beyond the prices so far. Nodes whose cheapest arcs are a
// cycle become a set (Edmonds 1967). The cycle leads from each of its nodes to all others, so from
// every root there is an arborescence of arcs that cost no more than the prices.
#include "audit/common/tree_costs.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace forestcoll::audit {
namespace {

// Nodes, and sets of them in place of one of their nodes.
class ShrinkingGraph {
 public:
  explicit ShrinkingGraph(ArcCosts cost)
      : cost_(std::move(cost)), left_(cost_.size()), set_of_(cost_.size()) {
    std::iota(left_.begin(), left_.end(), std::size_t{0});
    std::iota(set_of_.begin(), set_of_.end(), std::size_t{0});
    prices_.resize(cost_.size());
    outer_.resize(cost_.size());
  }

  // Prices sets until one has all nodes.
  void shrink() {
    std::vector<std::size_t> path(1, left_.front());  // the cheapest arc into each is from the next
    while (left_.size() > 1) {
      const std::size_t tail = price(path.back());
      const auto seen = std::find(path.begin(), path.end(), tail);
      if (seen == path.end()) {
        path.push_back(tail);
      } else {
        join({seen, path.end()});
        path.erase(seen + 1, path.end());
      }
    }
  }

  // By node, the prices of all sets that it is not in.
  [[nodiscard]] std::vector<Int128> prices_outside(std::size_t nodes) const {
    std::vector<Int128> inside = prices_;  // of a set and of all around it
    for (std::size_t s = prices_.size() - 1; s-- > 0;) inside[s] += inside[outer_[s]];
    const Int128 all = std::accumulate(prices_.begin(), prices_.end(), Int128{0});
    std::vector<Int128> outside(nodes);
    for (std::size_t v = 0; v < nodes; ++v) outside[v] = all - inside[v];
    return outside;
  }

 private:
  // Returns where the cheapest arc into `head` is from.
  std::size_t price(std::size_t head) {
    auto& into = cost_[head];
    std::size_t cheapest = left_.front() == head ? left_.back() : left_.front();
    for (const std::size_t u : left_) {
      if (u != head && into[u] < into[cheapest]) cheapest = u;
    }
    const Int128 least = into[cheapest];
    for (const std::size_t u : left_) into[u] -= least;
    prices_[set_of_[head]] = least;
    return cheapest;
  }

  // The first of them stands for all from now on.
  void join(const std::vector<std::size_t>& cycle) {
    const std::size_t one = cycle.front();
    for (const std::size_t v : cycle) {
      outer_[set_of_[v]] = prices_.size();
      for (const std::size_t u : left_) {
        cost_[one][u] = std::min(cost_[one][u], cost_[v][u]);
        cost_[u][one] = std::min(cost_[u][one], cost_[u][v]);
      }
    }
    set_of_[one] = prices_.size();
    prices_.emplace_back(0);
    outer_.push_back(0);
    std::vector<bool> is_gone(cost_.size());
    for (const std::size_t v : cycle) is_gone[v] = v != one;
    std::erase_if(left_, [&](std::size_t v) { return is_gone[v]; });
  }

  ArcCosts cost_;                    // by head, beyond the prices of the sets that arcs enter
  std::vector<std::size_t> left_;    // nodes
  std::vector<std::size_t> set_of_;  // that a node stands for; nodes are the first sets
  std::vector<Int128> prices_;       // by set
  std::vector<std::size_t> outer_;   // the least set around a set, which comes after it
};

}  // namespace

std::vector<Int128> arborescence_costs(ArcCosts cost) {
  const std::size_t nodes = cost.size();
  ShrinkingGraph graph(std::move(cost));
  graph.shrink();
  return graph.prices_outside(nodes);
}

}  // namespace forestcoll::audit
