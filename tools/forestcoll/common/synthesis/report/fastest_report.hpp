// What was considered for a size, as JSON.
#pragma once

#include <optional>
#include <string>

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

/// The sizes that a file is for, and a line for each that is told:
/// "    1 GiB  6.56 ms, nccl-ring 10.2 ms: 0.64 times the runtime's own choice".
[[nodiscard]] std::string window_lines(const SizeWindow& window,
                                       const std::optional<FastestChoice>& choice);
/// {"min_bytes", "max_bytes" (null: as far as the target goes), "times": [{"bytes", "seconds",
/// "runtime": {"algorithm", "seconds"} or null, "ratio"}]}
[[nodiscard]] Json to_json(const SizeWindow& window);
/// The rows of "times" above.
[[nodiscard]] Json to_json(const std::vector<TimeBeside>& times);
/// "6.56 ms", "31.2 us"
[[nodiscard]] std::string time_in_words(double seconds);

}  // namespace forestcoll::cli
