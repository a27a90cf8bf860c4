// Times where no trees are to be simulated.
#pragma once

#include <cstdint>
#include <vector>

#include "common/fabric.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/simulate.hpp"

namespace forestcoll::cli {

/// What `nvls_times` does, for the reader of a row.
constexpr const char* nvls_formula =
    "no trees describe it, for the switch combines and copies; times in closed form: two messages "
    "through the switch, then the rate";

/// An allreduce of NVLS at `algbw` (GB/s), without threadblocks: every GPU sends to the switch,
/// which combines and hands on (one step and message over two links), then the results go the same
/// way; the bytes flow at `algbw` × efficiency. Figures are those of the protocol Simple.
/// REQUIRES: some switch with `multicast` and `reduce` is linked to every GPU both ways.
[[nodiscard]] std::vector<SimulatedTime> nvls_times(const Fabric& fabric, const Ratio& algbw,
                                                    const SimulationParameters& parameters,
                                                    const std::vector<std::int64_t>& sizes);

}  // namespace forestcoll::cli
