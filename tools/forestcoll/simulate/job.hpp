// `forestcoll simulate` of the schedules of a job, all of a step at once.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "simulate/simulation.hpp"

namespace forestcoll::cli {

/// `text` is the report of a job, which `synth` wrote beside the schedules.
[[nodiscard]] Expected<ExitCode> simulate_job(std::string_view text,
                                              const std::vector<std::int64_t>& sizes,
                                              const LoadedTopology& fabric, const Figures& figures,
                                              const SimulateArguments& options,
                                              const Console& console);

}  // namespace forestcoll::cli
