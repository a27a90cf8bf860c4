// What is asked of a trace for others' simulators.
#pragma once

#include <cstdint>
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

}  // namespace forestcoll::cli
