// `forestcoll bound` of process groups that run at once.
#pragma once

#include "bound/arguments.hpp"
#include "command.hpp"
#include "common/fabric.hpp"

namespace forestcoll::cli {

/// Finds the best joint rate of every step, and writes the report.
[[nodiscard]] ExitCode run_bound_of_job(const Fabric& fabric, const BoundArguments& options,
                                        const Console& console);

}  // namespace forestcoll::cli
