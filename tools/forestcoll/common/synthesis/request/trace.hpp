// Traces for others' simulators: `synth --format goal` and `--format chakra`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/synthesis/request/options.hpp"
#include "forestcoll/diagnostic.hpp"

namespace forestcoll::cli {

/// The format that has a file for every rank, and so a directory.
constexpr std::string_view kChakra = "chakra";

/// Formats that have the messages of one size: a schedule is made for them as for MSCCL XML.
[[nodiscard]] bool is_trace(std::string_view format);

/// The size of --sizes. Errors: S03 where it is no size, or several; S04 where options ask for what
/// a trace does not have, and where -o names no directory for the files of `chakra`.
[[nodiscard]] Expected<std::int64_t> resolve_trace(const SynthArguments& arguments);

/// Makes the trace of verified XML and writes it: one file of GOAL, or a directory with a Chakra
/// trace for every rank and, where ASTRA-sim has the collective, the system file that names them.
/// Errors: those of `make_trace`; ErrorKind::io.
[[nodiscard]] Expected<void> write_trace(const std::string& xml, std::int64_t bytes,
                                         const SynthArguments& arguments);

/// The line of the summary that says how to go on; empty where there is nothing to say.
[[nodiscard]] std::string trace_line(const SynthArguments& arguments);

}  // namespace forestcoll::cli
