// `forestcoll synth --tune`: one file per range of sizes.
#pragma once

#include "command.hpp"
#include "common/fabric.hpp"
#include "common/options/solver_options.hpp"
#include "common/options/time_limit.hpp"
#include "synth/options.hpp"

namespace forestcoll::cli {

/// Writes the files of `request.tune` into `arguments.output`, a directory that is not there yet or
/// is empty, and reports which range got what. All files are there at the end, or none.
[[nodiscard]] ExitCode tune(const Fabric& fabric, const SynthRequest& request,
                            const SynthArguments& arguments, const SolverRequest& solver,
                            const TimeLimit& limit, const Console& console);

}  // namespace forestcoll::cli
