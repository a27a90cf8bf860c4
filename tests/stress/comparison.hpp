// The solver beside the reference packer, on fabrics of 12 to 60 ranks.
#pragma once

#include <cstdint>
#include <string>

#include "forestcoll/network.hpp"

namespace forestcoll::stress {

/// Regular and irregular direct fabrics, of links and of one-way cycles, boxes on a switch, leaves
/// and a spine; with switches no more than 32 ranks.
[[nodiscard]] Network comparison_fabric(std::uint64_t seed);

/// Empty where the solver's rate, k, scale and forest agree with the reference's, and both forests
/// are complete; else what differs.
[[nodiscard]] std::string find_difference(const Network& network);

}  // namespace forestcoll::stress
