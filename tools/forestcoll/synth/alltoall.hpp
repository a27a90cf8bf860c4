// `synth -c alltoall`.
#pragma once

#include <optional>

#include "command.hpp"
#include "common/report/report.hpp"
#include "forestcoll/diagnostic.hpp"
#include "synth/options.hpp"

namespace forestcoll::cli {

/// What only an all-to-all has, asked of another collective: S04.
[[nodiscard]] Expected<void> refuse_alltoall_options(const SynthArguments& arguments);

/// Whether the options of an all-to-all go together and can be read: S02, S03, S04, B06, B09, T06.
[[nodiscard]] Expected<void> check_alltoall(const SynthArguments& arguments);

/// As `synth`. REQUIRES: the collective is alltoall.
[[nodiscard]] ExitCode synth_alltoall(const SynthArguments& arguments, const Console& console,
                                      Json* summary);

}  // namespace forestcoll::cli
