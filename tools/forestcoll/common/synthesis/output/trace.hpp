// Traces for others' simulators: `synth --format goal` and `--format chakra`.
#pragma once

#include <cstdint>
#include <string>

#include "common/synthesis/request/options.hpp"
#include "forestcoll/diagnostic.hpp"

namespace forestcoll::cli {

/// Makes the trace of verified XML and writes it: one file of GOAL, or a directory with a Chakra
/// trace for every rank and, where ASTRA-sim has the collective, the system file that names them.
/// Errors: those of `make_trace`; ErrorKind::io.
[[nodiscard]] Expected<void> write_trace(const std::string& xml, std::int64_t bytes,
                                         const SynthArguments& arguments);

/// The line of the summary that says how to go on; empty where there is nothing to say.
[[nodiscard]] std::string trace_line(const SynthArguments& arguments);

}  // namespace forestcoll::cli
