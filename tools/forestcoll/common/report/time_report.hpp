// Times in reports: what was chosen for a size, for which sizes it serves, and whose latencies
// count.
#pragma once

#include <optional>
#include <string>

#include "command.hpp"
#include "common/report/report.hpp"
#include "forestcoll/fastest.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::cli {

/// Notes how many links have no latency and what is taken for them; nothing where all have one. For
/// commands that give times.
void report_latencies(const Topology& topology, const Console& console);

/// {"links": 48, "typical": [{"kind": "ib", "us": 1.5, "links": 16}]}: links in use, and those of
/// them that have no latency, by what is taken.
[[nodiscard]] Json latencies_json(const Topology& topology);

/// What every report says of a choice: its size in bytes, what it is, and its seconds.
[[nodiscard]] Json choice_json(const FastestChoice& choice);

/// The choice with its times and those of all other algorithms.
[[nodiscard]] Json to_json(const FastestChoice& choice);
/// {"algorithm": "bfb", "simulated_seconds": 1e-05, "is_at_least": false} for each.
[[nodiscard]] Json to_json(const std::vector<ConsideredTime>& considered);
/// Adds "least_seconds", which no schedule is below, and "least_by", which of two bounds it is:
/// "latency" or "links".
void put_least(Json& json, const LeastTime& least);
/// Seconds: {"links": 7e-06, "waiting": 1e-06, "latencies": 2e-06, "threadblocks": 0}
[[nodiscard]] Json to_json(const TimeCosts& costs);

/// The sizes that a file is for, and a line for each that is told:
/// "    1 GiB  6.56 ms; runtime (nccl-ring) 10.2 ms (1.56x)".
[[nodiscard]] std::string window_lines(const SizeWindow& window,
                                       const std::optional<FastestChoice>& choice);
/// The times alone, in a line: "  1 GiB: 6.56 ms, runtime 10.2 ms (1.56x); …".
[[nodiscard]] std::string window_line(const SizeWindow& window,
                                      const std::optional<FastestChoice>& choice);
/// {"min_bytes", "max_bytes" (null: as far as the target goes), "times": [{"bytes",
/// "simulated_seconds", "runtime": {"algorithm", "simulated_seconds"} or null, "ratio"}]}
[[nodiscard]] Json to_json(const SizeWindow& window);
/// The rows of "times" above.
[[nodiscard]] Json to_json(const std::vector<TimeBeside>& times);
/// "6.56 ms", "31.2 us"
[[nodiscard]] std::string time_in_words(double seconds);

}  // namespace forestcoll::cli
