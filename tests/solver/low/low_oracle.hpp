// The fastest trees of limited height, by definition.
#pragma once

#include <cstdint>
#include <optional>

#include "forestcoll/network.hpp"
#include "forestcoll/rate.hpp"

namespace forestcoll::test {

/// Rates in the network's units, by a linear program (GLPK) over all trees no higher than `height`:
/// every parent of every rank is tried, each edge by its cheapest route at the program's prices.
/// Nothing where no such trees exist. Limits of the network hold. For up to 6 ranks.

/// Per unit of weight, of out-trees.
[[nodiscard]] std::optional<double> low_rate(const Network& network, const Weights& weights,
                                             std::int32_t height);
/// Of all roots together, of an allreduce with both phases at once and any shares.
[[nodiscard]] std::optional<double> low_allreduce_rate(const Network& network, std::int32_t height);

}  // namespace forestcoll::test
