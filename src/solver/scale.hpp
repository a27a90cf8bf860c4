// Floors of scaled capacities, shared by scaling and balancing.
#pragma once

#include <optional>

#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::solver {

/// ⌊scale · b⌋ for every arc.
[[nodiscard]] IdVector<ArcId, Capacity> floor_capacities(const Network& network,
                                                         const Ratio& scale);

/// The least scale above `scale` at which some ⌊scale · b⌋ rises; nothing without arcs.
[[nodiscard]] std::optional<Ratio> next_scale(const Network& network, const Ratio& scale);

}  // namespace forestcoll::solver
