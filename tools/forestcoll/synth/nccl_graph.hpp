// `synth --format nccl-graph`.
#pragma once

#include "command.hpp"
#include "common/synthesis/request/options.hpp"

namespace forestcoll::cli {

/// Finds the best rings for NCCL in the boxes of the fabric, writes them and says what they gain
/// beside those that NCCL takes by itself. REQUIRES: the format is `kNcclGraph`.
[[nodiscard]] ExitCode write_nccl_graph(const SynthArguments& arguments, const Console& console);

}  // namespace forestcoll::cli
