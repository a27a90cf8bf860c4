// Bandwidths as people write them.
#pragma once

#include <optional>
#include <string_view>

#include "forestcoll/ratio.hpp"

namespace forestcoll {

/// GB/s of "25", "1000/3", "200 Gb/s" or "200Gbps"; nothing where it is no positive bandwidth, or
/// its exact value does not fit.
[[nodiscard]] std::optional<Ratio> parse_bandwidth(std::string_view text);

}  // namespace forestcoll
