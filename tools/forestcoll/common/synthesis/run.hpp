// The synthesis of one schedule, from its arguments to its report.
#pragma once

#include "command.hpp"
#include "common/report/report.hpp"
#include "common/synthesis/request/options.hpp"

namespace forestcoll::cli {

/// From a topology to a schedule that is proved, verified and written. The report of `--json` goes
/// to `summary` where there is one, to standard output otherwise. REQUIRES: no `tune`.
[[nodiscard]] Expected<ExitCode> run_synthesis(const SynthArguments& given, const Console& console,
                                               Json* summary = nullptr);

}  // namespace forestcoll::cli
