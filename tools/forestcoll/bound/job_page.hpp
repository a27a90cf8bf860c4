// A page about collectives at once: how long each step takes, what limits it, and who uses which
// links.
#pragma once

#include <string>
#include <vector>

#include "common/fabric.hpp"
#include "common/job/report.hpp"
#include "forestcoll/job.hpp"
#include "forestcoll/joint_bound.hpp"

namespace forestcoll::cli {

/// HTML with a bar for each step, and for each step the fabric with its links in the colours of the
/// operations that use them, what part each kind of link gives to each, the table of the report,
/// and what the step has beside its bound. Where the fabric is too large to be drawn, the page says
/// so. Same input, same bytes. Cost: for each step that of a picture.
[[nodiscard]] std::string job_page(const Job& job, const std::vector<StepBound>& bounds,
                                   const BesideBounds& beside, const Fabric& fabric);

}  // namespace forestcoll::cli
