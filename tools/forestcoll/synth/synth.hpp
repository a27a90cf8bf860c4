// `forestcoll synth`, for those who call it from within the program.
#pragma once

#include "command.hpp"
#include "common/report/report.hpp"
#include "synth/options.hpp"

namespace forestcoll::cli {

/// From a topology to a schedule that is proved, verified and written. The report of `--json` goes
/// to `summary` where there is one, to standard output otherwise.
[[nodiscard]] ExitCode synth(const SynthArguments& given, const Console& console,
                             Json* summary = nullptr);

}  // namespace forestcoll::cli
