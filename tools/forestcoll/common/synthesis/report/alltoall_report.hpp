// What `synth -c alltoall` says of what it made.
#pragma once

#include <string>

#include "common/fabric.hpp"
#include "common/report/figures/rate_report.hpp"
#include "common/report/report.hpp"
#include "forestcoll/compile.hpp"

namespace forestcoll::cli {

/// Seconds to read the fabric, for the compilation with all its stages, and to write the output.
struct AlltoallTimes {
  double parse = 0, compile = 0, write = 0;

  [[nodiscard]] double total() const { return parse + compile + write; }
};

/// The summary: rate against the optimum, rates of other k, what the schedule needs, seconds.
[[nodiscard]] std::string alltoall_summary(const AlltoallCompilation& made, const Fabric& fabric,
                                           std::int32_t sms, const AlltoallTimes& times);

/// The report of --json (format forestcoll-synth).
[[nodiscard]] Json alltoall_json(const AlltoallCompilation& made, const ThreeFigures& figures,
                                 const Fabric& fabric, const AlltoallTimes& times);

}  // namespace forestcoll::cli
