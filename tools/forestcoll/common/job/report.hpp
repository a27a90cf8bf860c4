// The report of process groups that run at once.
#pragma once

#include <string>
#include <vector>

#include "common/fabric.hpp"
#include "common/report/report.hpp"
#include "forestcoll/job.hpp"
#include "forestcoll/joint_bound.hpp"
#include "forestcoll/max_min.hpp"

namespace forestcoll::cli {

/// For each step a table of its operations, and what binds them. `beyond`: by step, of those of
/// several operations.
[[nodiscard]] std::string job_in_words(const Job& job, const std::vector<StepBound>& bounds,
                                       const std::vector<MaxMinRates>& beyond,
                                       const Fabric& fabric);
/// Says what of a fabric joint rates do not use: weights, and what switches copy and combine.
void note_what_does_not_count(const Fabric& fabric, const Console& console);
/// The format forestcoll-job, version 1. `beyond`: as above, or empty.
[[nodiscard]] Json job_to_json(const Job& job, const std::vector<StepBound>& bounds,
                               const std::vector<MaxMinRates>& beyond, const Fabric& fabric,
                               const ReadingOptions& reading);

}  // namespace forestcoll::cli
