#include "solver/common/join_trees.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <utility>

namespace forestcoll::solver {
namespace {

void sort_by_root(std::vector<Forest::Tree>& trees, std::vector<Route>& routes, std::size_t ranks) {
  const auto before = [](const Forest::Tree& a, const Forest::Tree& b) { return a.root < b.root; };
  if (std::is_sorted(trees.begin(), trees.end(), before)) return;
  std::vector<std::size_t> order(trees.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return before(trees[a], trees[b]); });
  std::vector<Forest::Tree> sorted;
  std::vector<Route> rows;
  rows.reserve(routes.size());
  for (const std::size_t t : order) {
    sorted.push_back(trees[t]);
    const auto row = routes.begin() + static_cast<std::ptrdiff_t>(t * ranks);
    rows.insert(rows.end(), row, row + static_cast<std::ptrdiff_t>(ranks));
  }
  trees = std::move(sorted);
  routes = std::move(rows);
}

std::uint64_t hash(std::span<const Route> row) {
  std::uint64_t h = 0;
  for (const Route route : row) {
    const auto prefix = static_cast<std::uint64_t>(route.prefix.value) << 32;
    h = (h ^ prefix ^ static_cast<std::uint32_t>(route.last.value)) * 0x9E3779B97F4A7C15U;
    h ^= h >> 29;
  }
  return h;
}

}  // namespace

void join_equal_trees(std::vector<Forest::Tree>& trees, std::vector<Route>& routes,
                      std::size_t ranks) {
  sort_by_root(trees, routes, ranks);
  const auto row = [&](std::size_t t) { return std::span(routes).subspan(t * ranks, ranks); };
  std::multimap<std::uint64_t, std::size_t> kept;  // of the root at hand
  std::size_t end = 0;
  Rank root;
  for (std::size_t t = 0; t < trees.size(); ++t) {
    const bool first = std::exchange(root, trees[t].root) != trees[t].root;
    const bool alone = first && (t + 1 == trees.size() || trees[t + 1].root != root);
    if (first) kept.clear();
    const std::uint64_t h = alone ? 0 : hash(row(t));
    const auto [begin, last] = kept.equal_range(h);
    const auto twin = std::find_if(begin, last, [&](const auto& entry) {
      return std::equal(row(t).begin(), row(t).end(), row(entry.second).begin());
    });
    if (twin != last) {
      trees[twin->second].multiplicity += trees[t].multiplicity;
      continue;
    }
    if (end != t) {
      trees[end] = trees[t];
      std::copy(row(t).begin(), row(t).end(), row(end).begin());
    }
    kept.emplace(h, end++);
  }
  trees.resize(end);
  routes.resize(end * ranks);
}

}  // namespace forestcoll::solver
