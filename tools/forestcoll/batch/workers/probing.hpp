// A look at every file before anything is made: what it holds, how dear it will be.
#pragma once

#include <csignal>
#include <functional>
#include <optional>
#include <vector>

#include "batch/workers/signals.hpp"
#include "batch/workers/work.hpp"

namespace forestcoll::cli::batch {

struct ProbingOptions {
  int jobs = 1;
  bool in_process = false;
  std::optional<double> seconds;  ///< a file that takes longer is given up (J02)
};

/// As many results as tasks; fewer where `gate` was asked to stop. Files are looked at in children,
/// many by each: one that takes its child with it costs only its own result.
[[nodiscard]] std::vector<Probe> probe_all(const std::vector<ProbeTask>& tasks,
                                           const ProbingOptions& options, SignalGate& gate);

}  // namespace forestcoll::cli::batch
