#include "solver/joint/arborescence.hpp"

#include <utility>

namespace forestcoll::solver {
namespace {

constexpr std::size_t kNoNode = static_cast<std::size_t>(-1);

// By node, where its cheapest arc comes from; the root's from itself.
std::vector<std::size_t> cheapest_tails(const std::vector<std::int64_t>& costs, std::size_t n,
                                        std::size_t root) {
  std::vector<std::size_t> tails(n, root);
  for (std::size_t v = 0; v < n; ++v) {
    if (v == root) continue;
    for (std::size_t u = 0; u < n; ++u) {
      if (u != v && costs[u * n + v] < costs[tails[v] * n + v]) tails[v] = u;
    }
  }
  return tails;
}

// Cycles of the tails become one node each. By node, its number afterwards.
struct Contraction {
  std::vector<std::size_t> number;
  std::size_t count = 0;
};

Contraction contract_cycles(const std::vector<std::size_t>& tails, std::size_t root) {
  const std::size_t n = tails.size();
  Contraction made{std::vector<std::size_t>(n, kNoNode), 0};
  std::vector<std::size_t> seen_from(n, kNoNode);
  for (std::size_t first = 0; first < n; ++first) {
    std::size_t v = first;
    while (v != root && seen_from[v] == kNoNode) {
      seen_from[v] = first;
      v = tails[v];
    }
    if (v == root || seen_from[v] != first || made.number[v] != kNoNode) continue;
    for (std::size_t u = v; made.number[u] == kNoNode; u = tails[u]) made.number[u] = made.count;
    ++made.count;
  }
  for (std::size_t& number : made.number) {
    if (number == kNoNode) number = made.count++;
  }
  return made;
}

}  // namespace

std::vector<std::size_t> cheapest_arborescence(const std::vector<std::int64_t>& costs,
                                               std::size_t n, std::size_t root) {
  std::vector<std::size_t> tails = cheapest_tails(costs, n, root);
  const auto [number, count] = contract_cycles(tails, root);
  if (count == n) return tails;
  // Between contracted nodes the arc that costs the least more than what it takes the place of.
  std::vector<std::pair<std::size_t, std::size_t>> arcs(count * count, {kNoNode, kNoNode});
  std::vector<std::int64_t> left(count * count, 0);
  for (std::size_t u = 0; u < n; ++u) {
    for (std::size_t v = 0; v < n; ++v) {
      if (number[u] == number[v] || v == root) continue;
      const std::size_t at = number[u] * count + number[v];
      const std::int64_t more = costs[u * n + v] - costs[tails[v] * n + v];
      if (arcs[at].first != kNoNode && left[at] <= more) continue;
      arcs[at] = {u, v};
      left[at] = more;
    }
  }
  const auto contracted = cheapest_arborescence(left, count, number[root]);
  for (std::size_t b = 0; b < count; ++b) {
    if (b == number[root]) continue;
    const auto [u, v] = arcs[contracted[b] * count + b];
    tails[v] = u;
  }
  return tails;
}

}  // namespace forestcoll::solver
