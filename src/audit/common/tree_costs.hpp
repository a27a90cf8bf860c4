// What cheapest arborescences cost.
#pragma once

#include <vector>

#include "forestcoll/ratio.hpp"

namespace forestcoll::audit {

/// Costs of arcs by head and tail; those of a node to itself do not count.
using ArcCosts = std::vector<std::vector<Int128>>;

/// Returns by node what the cheapest arborescence from it costs that spans all. REQUIRES: costs of
/// all arcs, 0 or more, whose sum fits 127 bits. Cost: O(n²) for all roots together.
[[nodiscard]] std::vector<Int128> arborescence_costs(ArcCosts cost);

}  // namespace forestcoll::audit
