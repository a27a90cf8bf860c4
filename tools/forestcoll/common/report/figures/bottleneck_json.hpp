// The cut that limits a collective, as programs read it.
#pragma once

#include "common/report/report.hpp"
#include "forestcoll/bottleneck.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::cli {

/// The "bottleneck" of the bound report.
[[nodiscard]] Json to_json(const Bottleneck& bottleneck, const Topology& topology);

}  // namespace forestcoll::cli
