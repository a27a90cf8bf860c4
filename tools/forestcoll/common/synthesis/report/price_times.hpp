// How long schedules take before a failure and after it.
#pragma once

#include <string>

#include "common/report/figures/price_report.hpp"
#include "forestcoll/fabric.hpp"

namespace forestcoll::cli {

/// Sets the times of a price, at 1 MiB, 64 MiB and 1 GiB, by simulation with the figures of the
/// fabrics' GPUs; none where one of them is not simulated. Cost: that of `simulated_time` six
/// times.
void add_times(FailurePrice& price, const std::string& schedule_before,
               const forestcoll::Fabric& before, const std::string& schedule_after,
               const forestcoll::Fabric& after);

}  // namespace forestcoll::cli
