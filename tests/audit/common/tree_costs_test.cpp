// Costs of cheapest arborescences against those of all there are.
#include "audit/common/tree_costs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

namespace forestcoll::test {
namespace {

using audit::ArcCosts;

ArcCosts random_costs(std::size_t nodes, std::size_t most, std::mt19937_64& random) {
  ArcCosts cost(nodes, std::vector<Int128>(nodes));
  for (auto& into : cost) {
    for (Int128& arc : into) arc = Int128(random() % (most + 1));
  }
  return cost;
}

bool leads_to_root(const std::vector<std::size_t>& tails, std::size_t from, std::size_t root) {
  for (std::size_t steps = 0; from != root; ++steps, from = tails[from]) {
    if (steps == tails.size()) return false;
  }
  return true;
}

// Over every choice of an arc into each node but the root.
Int128 least_of_all(const ArcCosts& cost, std::size_t root) {
  const std::size_t n = cost.size();
  Int128 least = -1;
  std::vector<std::size_t> tails(n, 0);
  for (std::size_t v = 0; v < n;) {
    Int128 sum = 0;
    bool spans = true;
    for (std::size_t u = 0; u < n; ++u) {
      spans = spans && leads_to_root(tails, u, root);
      if (u != root) sum += cost[u][tails[u]];
    }
    if (spans && (least < 0 || sum < least)) least = sum;
    for (v = 0; v < n && ++tails[v] == n; ++v) tails[v] = 0;
  }
  return least;
}

TEST(ArborescenceCosts, AreOfTheCheapestFromEachRoot) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 300; ++i) {
    const ArcCosts cost = random_costs(1 + random() % 5, i % 2 == 0 ? 2 : 50, random);
    const auto found = audit::arborescence_costs(cost);
    ASSERT_EQ(found.size(), cost.size());
    for (std::size_t root = 0; root < cost.size(); ++root) {
      EXPECT_TRUE(found[root] == least_of_all(cost, root)) << "case " << i << ", root " << root;
    }
  }
}

// A cycle within a cycle: pairs first, then the pairs around a ring.
TEST(ArborescenceCosts, OfCyclesWithinCycles) {
  const std::size_t pairs = 50;
  ArcCosts cost(2 * pairs, std::vector<Int128>(2 * pairs, 1'000));
  for (std::size_t p = 0; p < pairs; ++p) {
    cost[2 * p][2 * p + 1] = cost[2 * p + 1][2 * p] = 1;
    cost[(2 * p + 2) % (2 * pairs)][2 * p + 1] = 10;
  }
  // Each other pair is entered once for 10, and its other node is reached for 1.
  for (const Int128 found : audit::arborescence_costs(cost)) {
    EXPECT_TRUE(found == 10 * (pairs - 1) + pairs);
  }
}

}  // namespace
}  // namespace forestcoll::test
