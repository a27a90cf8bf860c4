// `synth -c alltoall`.
#pragma once

#include <optional>

#include "command.hpp"
#include "common/report.hpp"
#include "forestcoll/diagnostic.hpp"
#include "synth/options.hpp"

namespace forestcoll::cli {

/// What only an all-to-all has, asked of another collective: S04.
[[nodiscard]] std::optional<Diagnostic> refuse_alltoall_options(const SynthArguments& arguments);

/// As `synth`. REQUIRES: the collective is alltoall.
[[nodiscard]] ExitCode synth_alltoall(const SynthArguments& arguments, const Console& console,
                                      Json* summary);

}  // namespace forestcoll::cli
