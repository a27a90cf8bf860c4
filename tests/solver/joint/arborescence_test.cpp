// Cheapest arborescences against all there are.
#include "solver/joint/arborescence.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace forestcoll::testing {
namespace {

using Tails = std::vector<std::size_t>;

bool spans(const Tails& tails, std::size_t root) {
  for (std::size_t v = 0; v < tails.size(); ++v) {
    std::size_t u = v;
    for (std::size_t steps = 0; u != root; ++steps, u = tails[u]) {
      if (steps == tails.size()) return false;
    }
  }
  return true;
}

std::int64_t cost_of(const Tails& tails, const std::vector<std::int64_t>& costs, std::size_t root) {
  std::int64_t sum = 0;
  for (std::size_t v = 0; v < tails.size(); ++v) {
    if (v != root) sum += costs[tails[v] * tails.size() + v];
  }
  return sum;
}

std::int64_t least_of_all(const std::vector<std::int64_t>& costs, std::size_t n, std::size_t root) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::size_t choices = 1;
  for (std::size_t v = 0; v < n; ++v) choices *= n;
  for (std::size_t choice = 0; choice < choices; ++choice) {
    Tails tails;
    std::size_t rest = choice;
    for (std::size_t v = 0; v < n; ++v, rest /= n) tails.push_back(rest % n);
    if (tails[root] == root && spans(tails, root)) {
      least = std::min(least, cost_of(tails, costs, root));
    }
  }
  return least;
}

TEST(CheapestArborescence, IsTheCheapestOfAll) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 400; ++i) {
    const std::size_t n = 2 + random() % 4, root = random() % n;
    std::vector<std::int64_t> costs;
    for (std::size_t a = 0; a < n * n; ++a) {
      costs.push_back(static_cast<std::int64_t>(random() % (i % 2 == 0 ? 4 : 50)));
    }
    const Tails tails = solver::cheapest_arborescence(costs, n, root);
    ASSERT_TRUE(spans(tails, root));
    EXPECT_EQ(cost_of(tails, costs, root), least_of_all(costs, n, root)) << "case " << i;
  }
}

}  // namespace
}  // namespace forestcoll::testing
