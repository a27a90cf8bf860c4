// Runs a schedule over sizes, types and operations, times it and checks it.
#pragma once

#include "run/options.hpp"
#include "run/schedule.hpp"

namespace forestcoll::run {

/// Prints the table on rank 0; the same on all ranks: whether anything was wrong. Sizes are rounded
/// down to whole chunks; those outside the file's window are left out, with a comment. Errors: X03
/// (another number of processes), X04 (no size is in the window), X05 (no such root), X06 (a size
/// is beyond what a rank can hold).
[[nodiscard]] Expected<bool> run_all(const Schedule& schedule, const Options& options,
                                     std::int64_t root);

}  // namespace forestcoll::run
