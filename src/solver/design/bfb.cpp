#include <algorithm>
#include <cstdint>
#include <vector>

#include "solver/design/figures.hpp"

namespace forestcoll::solver {
namespace {

// Distances by root: distance[root · N + v].
std::vector<std::int32_t> all_distances(const Neighbours& neighbours) {
  std::vector<std::int32_t> all;
  all.reserve(neighbours.nodes() * neighbours.nodes());
  for (std::size_t root = 0; root < neighbours.nodes(); ++root) {
    const auto row = neighbours.distances(root);
    all.insert(all.end(), row.begin(), row.end());
  }
  return all;
}

// Of one node: how many links come from each set of in-neighbours.
std::vector<std::int64_t> widths_of(const std::vector<Neighbours::Link>& into) {
  std::vector<std::int64_t> width(std::size_t{1} << into.size(), 0);
  for (std::size_t set = 1; set < width.size(); ++set) {
    std::size_t lowest = 0;
    while ((set >> lowest & 1U) == 0) ++lowest;
    width[set] = width[set & (set - 1)] + into[lowest].count;
  }
  return width;
}

// `blocks[W]`: how many have exactly the links from W. The largest load of a set.
Ratio busiest(std::vector<std::int64_t> blocks, const std::vector<std::int64_t>& width) {
  for (std::size_t bit = 1; bit < blocks.size(); bit <<= 1U) {
    for (std::size_t set = 0; set < blocks.size(); ++set) {
      if ((set & bit) != 0) blocks[set] += blocks[set ^ bit];
    }
  }
  // Both are below 2^31: products fit, and most sets need no fraction in lowest terms.
  std::size_t most = 1;
  for (std::size_t set = 2; set < blocks.size(); ++set) {
    if (blocks[set] * width[most] > blocks[most] * width[set]) most = set;
  }
  return {blocks[most], width[most]};
}

}  // namespace

std::optional<Ratio> bfb_time(const Neighbours& neighbours, std::size_t ports) {
  const std::size_t n = neighbours.nodes();
  for (std::size_t u = 0; u < n; ++u) {
    if (neighbours.in(u).size() > kMostBfbPorts) return std::nullopt;
  }
  const auto distance = all_distances(neighbours);
  std::vector<Ratio> slowest;  // by step, over all nodes
  for (std::size_t u = 0; u < n; ++u) {
    const auto& into = neighbours.in(u);
    const auto width = widths_of(into);
    std::vector<std::vector<std::int64_t>> blocks;  // by step and set
    for (std::size_t root = 0; root < n; ++root) {
      const auto* row = &distance[root * n];
      if (root == u) continue;
      const auto step = static_cast<std::size_t>(row[u]) - 1;
      std::size_t set = 0;
      for (std::size_t i = 0; i < into.size(); ++i) {
        const bool brings = row[static_cast<std::size_t>(into[i].node)] == row[u] - 1;
        set |= static_cast<std::size_t>(brings) << i;
      }
      if (blocks.size() <= step) blocks.resize(step + 1, std::vector<std::int64_t>(width.size()));
      ++blocks[step][set];
    }
    if (slowest.size() < blocks.size()) slowest.resize(blocks.size());
    for (std::size_t step = 0; step < blocks.size(); ++step) {
      slowest[step] = std::max(slowest[step], busiest(std::move(blocks[step]), width));
    }
  }
  Ratio sum;
  for (const Ratio& load : slowest) sum = sum + load;
  return sum * Ratio(static_cast<std::int64_t>(ports), static_cast<std::int64_t>(n));
}

}  // namespace forestcoll::solver
