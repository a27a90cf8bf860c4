// Which latencies are the file's own, and which are typical ones.
#pragma once

#include "command.hpp"
#include "common/report/report.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::cli {

/// Notes how many links have no latency and what is taken for them; nothing where all have one. For
/// commands that give times.
void report_latencies(const Topology& topology, const Console& console);

/// {"links": 48, "typical": [{"kind": "ib", "us": 1.5, "links": 16}]}: links in use, and those of
/// them that have no latency, by what is taken.
[[nodiscard]] Json latencies_json(const Topology& topology);

}  // namespace forestcoll::cli
