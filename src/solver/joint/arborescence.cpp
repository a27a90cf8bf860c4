#include "solver/joint/arborescence.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace forestcoll::solver {
namespace {

constexpr std::size_t kNoNode = static_cast<std::size_t>(-1);

// The nodes that cheapest arcs lead from, by head.
std::vector<std::size_t> cheapest_tails(const std::vector<std::int64_t>& costs, std::size_t n,
                                        std::size_t root) {
  std::vector<std::size_t> tails(n, kNoNode);
  for (std::size_t v = 0; v < n; ++v) {
    if (v == root) continue;
    for (std::size_t u = 0; u < n; ++u) {
      if (u == v) continue;
      if (tails[v] == kNoNode || costs[u * n + v] < costs[tails[v] * n + v]) tails[v] = u;
    }
  }
  return tails;
}

// Cycles of the tails become one node each. By node, its number afterwards.
struct Contraction {
  std::vector<std::size_t> number;
  std::size_t count = 0;
};

Contraction contract_cycles(const std::vector<std::size_t>& tails) {
  const std::size_t n = tails.size();
  Contraction made{std::vector<std::size_t>(n, kNoNode), 0};
  std::vector<std::size_t> seen_from(n, kNoNode);
  for (std::size_t first = 0; first < n; ++first) {
    std::size_t v = first;
    while (v != kNoNode && seen_from[v] == kNoNode) {
      seen_from[v] = first;
      v = tails[v];
    }
    if (v == kNoNode || seen_from[v] != first || made.number[v] != kNoNode) continue;
    for (std::size_t u = v; made.number[u] == kNoNode; u = tails[u]) made.number[u] = made.count;
    ++made.count;
  }
  for (std::size_t& number : made.number) {
    if (number == kNoNode) number = made.count++;
  }
  return made;
}

}  // namespace

std::int64_t arborescence_cost(std::vector<std::int64_t> costs, std::size_t n, std::size_t root) {
  std::int64_t total = 0;
  while (true) {
    const auto tails = cheapest_tails(costs, n, root);
    std::vector<std::int64_t> least(n, 0);
    for (std::size_t v = 0; v < n; ++v) {
      if (v != root) total += least[v] = costs[tails[v] * n + v];
    }
    const auto [number, count] = contract_cycles(tails);
    if (count == n) return total;
    std::vector<std::int64_t> left(count * count, std::numeric_limits<std::int64_t>::max());
    for (std::size_t u = 0; u < n; ++u) {
      for (std::size_t v = 0; v < n; ++v) {
        if (number[u] == number[v]) continue;
        std::int64_t& cost = left[number[u] * count + number[v]];
        cost = std::min(cost, costs[u * n + v] - least[v]);
      }
    }
    costs = std::move(left);
    root = number[root];
    n = count;
  }
}

}  // namespace forestcoll::solver
