// `forestcoll synth --tune`: one file per range of sizes.
#pragma once

#include "command.hpp"
#include "common/synthesis/request/options.hpp"

namespace forestcoll::cli {

/// Writes the files of `given.tune` into `given.output`, a directory that is not there yet or is
/// empty, and reports which range got what. All files are there at the end, or none. REQUIRES: a
/// collective of trees.
[[nodiscard]] ExitCode tune(const SynthArguments& given, const Console& console);

}  // namespace forestcoll::cli
