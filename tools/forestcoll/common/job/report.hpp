// The report of process groups that run at once.
#pragma once

#include <string>
#include <vector>

#include "common/fabric.hpp"
#include "common/report/report.hpp"
#include "forestcoll/job.hpp"
#include "forestcoll/joint_bound.hpp"

namespace forestcoll::cli {

/// For each step a table of its operations, and what binds them.
[[nodiscard]] std::string job_in_words(const Job& job, const std::vector<StepBound>& bounds,
                                       const Fabric& fabric);
/// Says what of a fabric joint rates do not use: weights, and what switches copy and combine.
void note_what_does_not_count(const Fabric& fabric, const Console& console);
/// The format forestcoll-job, version 1.
[[nodiscard]] Json job_to_json(const Job& job, const std::vector<StepBound>& bounds,
                               const Fabric& fabric, const ReadingOptions& reading);

}  // namespace forestcoll::cli
