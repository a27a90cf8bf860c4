// The base graphs of one size, as expressions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "topology/wiring/expression.hpp"

namespace forestcoll::solver {

using Expressions = std::vector<topology::WiringExpression>;

/// base^power where that is `target`, or 0.
[[nodiscard]] std::int64_t root_of(std::int64_t target, std::int64_t power);

/// Every base graph with exactly so many nodes and ports, and so many random regular ones, of seeds
/// 1, 2, …. Of circulants those of fewest steps among offsets 1 and b, of consecutive offsets, and
/// of powers of a number. Cost: linear in the graphs, and O(nodes²) with four ports.
[[nodiscard]] Expressions base_candidates(std::int64_t nodes, std::int64_t ports,
                                          std::size_t randoms);

}  // namespace forestcoll::solver
