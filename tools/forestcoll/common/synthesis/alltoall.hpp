// `synth -c alltoall`.
#pragma once

#include "command.hpp"
#include "common/report/report.hpp"
#include "common/synthesis/request/options.hpp"

namespace forestcoll::cli {

/// As `run_synthesis`. REQUIRES: the collective is alltoall.
[[nodiscard]] ExitCode synth_alltoall(const SynthArguments& arguments, const Console& console,
                                      Json* summary);

}  // namespace forestcoll::cli
