// forestcoll-run under mpirun, and schedules for it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/program.hpp"
#include "forestcoll/compile.hpp"

namespace forestcoll::testing {

/// `mpirun -np RANKS forestcoll-run - ARGUMENTS`, with the schedule on standard input.
Result mpirun(int ranks, const std::string& schedule, std::vector<std::string> arguments);

/// The same of several, each with a name: files that one start of the processes runs in turn.
Result mpirun(int ranks, const std::vector<std::pair<std::string, std::string>>& schedules,
              std::vector<std::string> arguments);

/// The same of files and options.
Result mpirun_files(int ranks, const std::vector<std::string>& arguments);

/// The program without mpirun, which it starts itself.
Result run_alone(const std::vector<std::string>& arguments);

/// A schedule of a bundled fabric.
std::string schedule_of(const std::string& fabric, const CompileOptions& options = {});

/// The same where the ranks of the fabric have these weights.
std::string schedule_of(const std::string& fabric, const std::vector<int>& weights,
                        const CompileOptions& options);

/// The same of an all-to-all.
std::string alltoall_of(const std::string& fabric, Format format);

/// `text` with the `n`-th place of `from` made `to`. Fails the test where there is none.
std::string with(std::string text, const std::string& from, const std::string& to, int n = 0);

/// How many rows of a table there are, and how many of them say that something was wrong.
struct Rows {
  int all = 0, wrong = 0;
};
Rows rows_of(const std::string& table);

}  // namespace forestcoll::testing
