// What `synth` does for some formats and options, one file each.
#pragma once

#include <string>

#include "command.hpp"
#include "common/job/request.hpp"
#include "common/synthesis/request/options.hpp"

namespace forestcoll::cli {

/// Divides the links among the groups at the highest joint rate, makes a schedule of each in its
/// part, as `synth` would of a fabric, and writes them with the parts and job.json into the
/// directory -o; or one plan of all groups into a file. `arguments.collective` is empty where it
/// was not given.
[[nodiscard]] Expected<ExitCode> run_synthesis_of_job(const SynthArguments& arguments,
                                                      const JobArguments& job,
                                                      const Console& console);

/// The command that verifies `file` on the fabric as it was read, with what was changed of it.
[[nodiscard]] std::string verify_command(const SynthArguments& arguments, const std::string& file);

/// Writes the files of `given.tune` into `given.output`, a directory that is not there yet or is
/// empty, and reports which range got what. All files are there at the end, or none. REQUIRES: a
/// collective of trees.
[[nodiscard]] Expected<ExitCode> tune(const SynthArguments& given, const Console& console);

/// Finds the best rings for NCCL in the boxes of the fabric, writes them and says what they gain
/// beside those that NCCL takes by itself. REQUIRES: the format is `kNcclGraph`.
[[nodiscard]] Expected<ExitCode> write_nccl_graph(const SynthArguments& arguments,
                                                  const Console& console);

/// Finds the fastest of NCCL's own algorithms by size, writes the rules and says what they gain
/// beside NCCL's own choice. REQUIRES: the format is one of a tuner.
[[nodiscard]] Expected<ExitCode> tune_nccl_itself(const SynthArguments& arguments,
                                                  const Console& console);

}  // namespace forestcoll::cli
