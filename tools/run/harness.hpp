// Runs a schedule, or all schedules of a job, over sizes, types and operations, times and checks.
#pragma once

#include "run/job_file.hpp"
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

/// Prints a table for each step on rank 0. Every group has a communicator of its own, and all run
/// at the same time. Sizes are of the largest buffer of a step; the others are as large beside it
/// as in the job, in whole chunks. Windows of sizes, by which a runtime selects schedules, do not
/// count. Times are of the slowest rank. Errors: X02 (an operation that MSCCL++ has not), X03
/// (another number of processes), X06 (a size is beyond what a rank can hold).
[[nodiscard]] Expected<Outcome> run_job(const LoadedJob& job, const Options& options);

}  // namespace forestcoll::run
