// What the time of a program is made of.
#pragma once

#include <cstdint>

#include "forestcoll/fastest.hpp"
#include "forestcoll/simulate.hpp"

namespace forestcoll::fastest {

/// By simulation again, with one thing after the other for nothing: threadblocks, then latencies;
/// what the busiest link needs is counted. REQUIRES: `seconds` is what `run` says under
/// `parameters`. Cost: twice that of `run`.
[[nodiscard]] TimeCosts time_costs(const Simulator& simulator, std::int64_t bytes, double seconds,
                                   const SimulationParameters& parameters);

}  // namespace forestcoll::fastest
