// Measured runs laid over the model.
#pragma once

#include <string>

#include "compare/comparison.hpp"
#include "forestcoll/diagnostic.hpp"

namespace forestcoll::cli {

/// Adds what `[ALGORITHM=]FILE` measured, beside that algorithm's row (ours where none is named).
/// Between two simulated sizes the model's time is interpolated, outside of them there is none.
/// Returns warnings, and where there are errors nothing was added: those of reading, N01, N02 and
/// N03 (see `read_nccl_tests`), N04 a run of another collective or number of ranks, N08 no such
/// row.
[[nodiscard]] Diagnostics add_measured(Comparison& comparison, const std::string& argument);

}  // namespace forestcoll::cli
