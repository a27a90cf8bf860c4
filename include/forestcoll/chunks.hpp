// How many chunks a forest has: k per root, or, where roots own unequal shares, from so many to so
// many.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "forestcoll/forest.hpp"

namespace forestcoll {

/// Bytes of which the chunks of an MSCCL++ plan are multiples.
inline constexpr std::int64_t kPlanAlignment = 16;

/// The fewest and the most trees of a root.
[[nodiscard]] inline std::pair<std::int64_t, std::int64_t> range_of_trees(
    const CollectiveForest& forest) {
  if (forest.weight.empty()) return {forest.k, forest.k};
  const auto [least, most] = std::minmax_element(forest.weight.begin(), forest.weight.end());
  return {*least * forest.k, *most * forest.k};
}

/// Of all roots together. REQUIRES: `forest.weight` is not empty.
[[nodiscard]] inline std::int64_t chunks_of(const CollectiveForest& forest) {
  std::int64_t chunks = 0;
  for (const std::int64_t weight : forest.weight) chunks += weight * forest.k;
  return chunks;
}

}  // namespace forestcoll
