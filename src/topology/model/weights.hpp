// Shares of the data as integers.
#pragma once

#include <cstdint>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::topology {

/// The weights of the ranks in lowest integers; empty where all are alike. Errors: E05 where every
/// weight is 0, E14 where the integers or their sum do not fit. Cost: linear in the ranks.
[[nodiscard]] Expected<IdVector<Rank, std::int64_t>> integral_weights(const Topology& topology);

}  // namespace forestcoll::topology
