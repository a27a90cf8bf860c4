// What `synth` is asked for of an alltoall, a scatter or a gather, where that differs from trees.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/synthesis/request/options.hpp"
#include "forestcoll/compile.hpp"
#include "forestcoll/diagnostic.hpp"

namespace forestcoll::cli {

/// What collectives along paths have not, asked of one, and what they alone have, asked of another.
/// Errors: S04, B06, B09, T06.
[[nodiscard]] Expected<void> refuse_for_alltoall(const SynthArguments& arguments);

/// -k, a number of parts. Errors: S03.
[[nodiscard]] Expected<void> read_parts(const std::string& text, CompileOptions& compile);

/// The size that flows are to be fast for, the last of --sizes. Errors: S03.
[[nodiscard]] Expected<std::optional<std::int64_t>> bytes_of_flows(const SynthArguments& arguments);

}  // namespace forestcoll::cli
