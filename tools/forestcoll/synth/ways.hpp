// What `synth` does for some formats and options, one file each.
#pragma once

#include "command.hpp"
#include "common/synthesis/request/options.hpp"

namespace forestcoll::cli {

/// Writes the files of `given.tune` into `given.output`, a directory that is not there yet or is
/// empty, and reports which range got what. All files are there at the end, or none. Default sizes,
/// those of a directory, become what calls of as many ranks have. REQUIRES: a collective of trees.
[[nodiscard]] Expected<ExitCode> tune(const SynthArguments& given, bool are_default_sizes,
                                      const Console& console);

/// Finds the best rings for NCCL in the boxes of the fabric, writes them and says what they gain
/// beside those that NCCL takes by itself. REQUIRES: the format is `kNcclGraph`.
[[nodiscard]] Expected<ExitCode> write_nccl_graph(const SynthArguments& arguments,
                                                  const Console& console);

/// Finds the fastest of NCCL's own algorithms by size, writes the rules and says what they gain
/// beside NCCL's own choice. REQUIRES: the format is one of a tuner.
[[nodiscard]] Expected<ExitCode> tune_nccl_itself(const SynthArguments& arguments,
                                                  const Console& console);

}  // namespace forestcoll::cli
