// How many trees each root has: k, or, where roots own unequal shares, from so many to so many.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "forestcoll/forest.hpp"
#include "report.hpp"

namespace forestcoll::cli {

/// The fewest and the most trees of a root.
[[nodiscard]] inline std::pair<std::int64_t, std::int64_t> range_of_trees(
    const CollectiveForest& forest) {
  if (forest.weight.empty()) return {forest.k, forest.k};
  const auto [least, most] = std::minmax_element(forest.weight.begin(), forest.weight.end());
  return {*least * forest.k, *most * forest.k};
}

/// {"least": 10, "most": 11}
[[nodiscard]] inline Json trees_per_root(const CollectiveForest& forest) {
  const auto [least, most] = range_of_trees(forest);
  return {{"least", least}, {"most", most}};
}

/// Of all roots together. REQUIRES: `forest.weight` is not empty.
[[nodiscard]] inline std::int64_t chunks_of(const CollectiveForest& forest) {
  std::int64_t chunks = 0;
  for (const std::int64_t weight : forest.weight) chunks += weight * forest.k;
  return chunks;
}

}  // namespace forestcoll::cli
