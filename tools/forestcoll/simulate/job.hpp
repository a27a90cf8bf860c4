// `forestcoll simulate` of the schedules of a job, all of a step at once.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "simulate/simulation.hpp"

namespace forestcoll::cli {

/// What a job is simulated with, beside its schedules.
struct JobSimulation {
  const LoadedTopology& fabric;
  const Figures& figures;
  const SimulateArguments& options;
  const Console& console;
};

/// `text` is the report of a job, which `synth` wrote beside the schedules.
[[nodiscard]] Expected<ExitCode> simulate_job(std::string_view text,
                                              const std::vector<std::int64_t>& sizes,
                                              const JobSimulation& with);

/// `text` is a schedule that every group of --groups runs, all at once: GPU r of the file is the
/// group's r-th member. Errors: those of `groups_of`, `refuse_for_groups`, `refuse_other_size` and
/// `prepare_simulation`.
[[nodiscard]] Expected<ExitCode> simulate_in_groups(std::string_view text,
                                                    const std::vector<std::int64_t>& sizes,
                                                    const JobSimulation& with);

}  // namespace forestcoll::cli
