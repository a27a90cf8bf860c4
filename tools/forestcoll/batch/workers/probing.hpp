// A look at every file before anything is made: what it holds, how dear it will be.
#pragma once

#include <vector>

#include "batch/workers/process.hpp"
#include "batch/workers/runner.hpp"
#include "batch/workers/work.hpp"

namespace forestcoll::cli::batch {

/// As many results as tasks; none where `gate` was asked to stop. A job looks at many files: one
/// that takes its process with it, or longer than `limits` allow (J02), costs only its own result.
[[nodiscard]] std::vector<Probe> probe_all(const std::vector<ProbeTask>& tasks,
                                           const RunnerLimits& limits, Runner& runner,
                                           SignalGate& gate);

}  // namespace forestcoll::cli::batch
