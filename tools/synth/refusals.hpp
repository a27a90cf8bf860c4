// Options of `forestcoll synth` that say nothing to what else was asked for.
#pragma once

#include <optional>

#include "forestcoll/diagnostic.hpp"
#include "synth/options.hpp"

namespace forestcoll::cli {

/// S04 where options shape a schedule and `format` is a forest, or ask for what a plan of MSCCL++
/// does not have.
[[nodiscard]] std::optional<Diagnostic> refuse_for_format(const SynthArguments& arguments,
                                                          Format format);

/// S04 where options do not go with --tune, which makes several schedules and gives each its
/// window.
[[nodiscard]] std::optional<Diagnostic> refuse_with_tune(const SynthArguments& arguments,
                                                         Format format);

}  // namespace forestcoll::cli
