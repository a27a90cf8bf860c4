// Schedules of process groups that run at once.
#pragma once

#include "command.hpp"
#include "common/job/request.hpp"
#include "common/synthesis/request/options.hpp"

namespace forestcoll::cli {

/// Divides the links among the groups at the highest joint rate, makes a schedule of each in its
/// part, as `synth` would of a fabric, and writes them with the parts and job.json into the
/// directory -o. `arguments.collective` is empty where it was not given.
[[nodiscard]] ExitCode run_synthesis_of_job(const SynthArguments& arguments,
                                            const JobArguments& job, const Console& console);

}  // namespace forestcoll::cli
