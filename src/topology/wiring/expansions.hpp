// Larger wirings from smaller ones (Zhao et al., NSDI 2025).
#pragma once

#include <cstdint>

#include "topology/wiring/base_graphs.hpp"

namespace forestcoll::topology {

/// Links become nodes; one leads to those that begin where it ends. Cost: O(result).
[[nodiscard]] Links line_digraph(const Links& links);
/// Every node `times` over, every link between all copies of its ends. Cost: O(result).
[[nodiscard]] Links degree_expanded(const Links& links, std::int64_t times);
/// Pairs of nodes; one of the two moves at a time. Cost: O(result).
[[nodiscard]] Links cartesian_product(const Links& a, const Links& b);

}  // namespace forestcoll::topology
