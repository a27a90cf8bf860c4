// Integral capacities, shared by scaling and balancing.
#pragma once

#include <optional>

#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/pack.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::solver {

/// ⌊scale · b⌋ for every arc.
[[nodiscard]] IdVector<ArcId, Capacity> floor_capacities(const Network& network,
                                                         const Ratio& scale);

/// Do all capacities together, so many times what they are?
[[nodiscard]] bool capacities_fit(const Network& network, const Ratio& scale);

/// The least scale above `scale` at which some ⌊scale · b⌋ rises; nothing without arcs.
[[nodiscard]] std::optional<Ratio> next_scale(const Network& network, const Ratio& scale);

/// The least k at which a part that carries 1/inverse gives integral capacities and whole trees;
/// nothing where numbers grow beyond 2^61.
[[nodiscard]] std::optional<Scaling> scaling_of_part(const BalancedPart& part,
                                                     const Ratio& inverse);

}  // namespace forestcoll::solver
