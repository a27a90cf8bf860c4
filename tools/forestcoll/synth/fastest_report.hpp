// What was considered for a size, as JSON.
#pragma once

#include "common/report/report.hpp"
#include "forestcoll/fastest.hpp"

namespace forestcoll::cli {

/// The choice with its times and those of all other algorithms.
[[nodiscard]] Json to_json(const FastestChoice& choice);
/// {"algorithm": "bfb", "seconds": 1e-05, "at_least": false} for each.
[[nodiscard]] Json to_json(const std::vector<ConsideredTime>& considered);
/// {"seconds": 1e-05, "by": "latency"}
[[nodiscard]] Json to_json(const LeastTime& least);

}  // namespace forestcoll::cli
