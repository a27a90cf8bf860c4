// Runs all schedules of a job's steps at once, times them and checks them.
#pragma once

#include "run/harness.hpp"
#include "run/job_file.hpp"
#include "run/options.hpp"

namespace forestcoll::run {

/// Prints a table for each step on rank 0. Every group has a communicator of its own, and all run
/// at the same time. Sizes are of the largest buffer of a step; the others are as large beside it
/// as in the job, in whole chunks. Windows of sizes, by which a runtime selects schedules, do not
/// count. Times are of the slowest rank. Errors: X02 (an operation that MSCCL++ has not), X03
/// (another number of processes), X06 (a size is beyond what a rank can hold).
[[nodiscard]] Expected<Outcome> run_job(const LoadedJob& job, const Options& options);

}  // namespace forestcoll::run
