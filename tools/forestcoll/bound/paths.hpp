// `forestcoll bound` of collectives along paths (alltoall, scatter, gather) and of groups at once.
#pragma once

#include "bound/arguments.hpp"
#include "command.hpp"
#include "common/fabric.hpp"
#include "forestcoll/alltoall.hpp"

namespace CLI {
class App;
}

namespace forestcoll::cli {

/// --demand, --gap and --time-limit.
void add_alltoall_options(CLI::App& command, AlltoallArguments& arguments);

/// Checks a proof by other code. Says what came of it; ExitCode::internal where it does not hold.
[[nodiscard]] ExitCode check_alltoall(const AlltoallProof& proof, const Demand& demand,
                                      const Fabric& fabric, const Console& console);

/// Finds the optimum of the collective that is asked for, and writes the report.
[[nodiscard]] Expected<ExitCode> run_bound_of_paths(const Fabric& fabric,
                                                    const BoundArguments& options,
                                                    const Console& console);

/// Finds the best joint rate of every step, and writes the report.
[[nodiscard]] Expected<ExitCode> run_bound_of_job(const Fabric& fabric,
                                                  const BoundArguments& options,
                                                  const Console& console);

}  // namespace forestcoll::cli
