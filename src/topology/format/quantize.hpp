// Bandwidths on a coarser grid, for exact arithmetic that otherwise would not fit.
#pragma once

#include <optional>

#include "forestcoll/ratio.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::topology {

/// Rounds every bandwidth to the nearest positive multiple of `step` (GB/s, positive), halves up.
/// Returns the largest relative change; nothing where a number does not fit. Cost: O(links).
[[nodiscard]] std::optional<Ratio> quantize(Topology& topology, const Ratio& step);

}  // namespace forestcoll::topology
