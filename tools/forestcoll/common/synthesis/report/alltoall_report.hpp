// What `synth -c alltoall` says of what it made.
#pragma once

#include <string>

#include "common/fabric.hpp"
#include "common/report/rate_report.hpp"
#include "common/report/report.hpp"
#include "common/synthesis/report/write_report.hpp"
#include "forestcoll/compile.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::cli {

/// The summary: rate against the optimum, and what a caller needs to know; `verbose` adds how the
/// schedule was made, and seconds.
/// REQUIRES: `made` has paths, here and below.
[[nodiscard]] std::string alltoall_summary(const Compilation& made, const RateFigures& rates,
                                           const Fabric& fabric, const ScheduleNotes& notes,
                                           const SynthSeconds& seconds, bool verbose);

/// The report of --json (format forestcoll-synth).
[[nodiscard]] Json alltoall_json(const Compilation& made, const ThreeFigures& figures,
                                 const Fabric& fabric, const SynthSeconds& seconds);

/// Whose paths they are, a line of the summary. REQUIRES: one of `alltoall_baselines`.
[[nodiscard]] std::string paths_line(const std::string& algorithm);
/// {"name", "title", "source", "note", "bound"}; `bound` in GB/s.
[[nodiscard]] Json paths_json(const std::string& algorithm, const Ratio& bound);

}  // namespace forestcoll::cli
