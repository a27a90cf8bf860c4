// Whole shares of a whole.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "forestcoll/ratio.hpp"

namespace forestcoll::solver {

/// Whole shares that sum to `total`, each less than one from its part of it (largest remainders
/// first, then by place). REQUIRES: some share is positive; sums of shares times `total` fit 127
/// bits.
template <class Shares>
[[nodiscard]] Shares rounded_shares(const Shares& shares, std::int64_t total) {
  const Int128 all = std::accumulate(shares.begin(), shares.end(), Int128{0});
  Shares rounded;
  std::vector<std::pair<Int128, std::size_t>> rests;
  std::int64_t left = total;
  for (const std::int64_t share : shares) {
    const Int128 exact = Int128{share} * total;
    rests.emplace_back(-(exact % all), rests.size());
    rounded.push_back(static_cast<std::int64_t>(exact / all));
    left -= static_cast<std::int64_t>(exact / all);
  }
  std::ranges::sort(rests);
  for (std::size_t i = 0; i < static_cast<std::size_t>(left); ++i) {
    ++rounded.begin()[static_cast<std::ptrdiff_t>(rests[i].second)];
  }
  return rounded;
}

}  // namespace forestcoll::solver
