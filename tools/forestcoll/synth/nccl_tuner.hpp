// `synth --format nccl-tuner` and `ncclx-tuner`.
#pragma once

#include "command.hpp"
#include "common/synthesis/request/options.hpp"

namespace forestcoll::cli {

/// Finds the fastest of NCCL's own algorithms by size, writes the rules and says what they gain
/// beside NCCL's own choice. REQUIRES: the format is one of a tuner.
[[nodiscard]] ExitCode tune_nccl_itself(const SynthArguments& arguments, const Console& console);

}  // namespace forestcoll::cli
