// What lengths of links prove about a joint rate.
#pragma once

#include <optional>

#include "forestcoll/alltoall.hpp"
#include "forestcoll/commodity.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::solver {

/// In units of capacity, for `demand.whole()`: no trees and paths move it at a higher rate; the
/// theorem of `joint_optimum`. Nothing where the lengths prove nothing or exact arithmetic
/// overflows. REQUIRES: lengths are 0 or more. Cost: Dijkstra per member, an arborescence per root.
[[nodiscard]] std::optional<Ratio> bound_by_lengths(const Network& network,
                                                    const JointDemand& demand,
                                                    const ArcLengths& lengths);

}  // namespace forestcoll::solver
