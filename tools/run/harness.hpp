// Runs a schedule over sizes, types and operations, times it and checks it.
#pragma once

#include "run/options.hpp"
#include "run/schedule.hpp"

namespace forestcoll::run {

/// The same on all ranks.
struct Outcome {
  bool is_wrong = false;  ///< whether any element was
  bool has_run = false;   ///< whether there was a size to run
};

/// Prints the table on rank 0. Sizes are rounded down to whole chunks; those outside the file's
/// window are left out, with a comment. Where none was asked for, the one of the window nearest to
/// the default is run. Errors: X03 (another number of processes), X04 (of the only file, no size is
/// in the window), X05 (no such root), X06 (a size is beyond what a rank can hold).
[[nodiscard]] Expected<Outcome> run_all(const Schedule& schedule, const Options& options,
                                        std::int64_t root);

}  // namespace forestcoll::run
