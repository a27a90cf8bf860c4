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
/// Seconds: {"links": 7e-06, "waiting": 1e-06, "latencies": 2e-06, "threadblocks": 0}
[[nodiscard]] Json to_json(const TimeCosts& costs);

}  // namespace forestcoll::cli
