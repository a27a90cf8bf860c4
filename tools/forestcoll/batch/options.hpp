// What `forestcoll batch` is asked for, from the words of the command line.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "batch/items/manifest.hpp"
#include "batch/lock.hpp"
#include "batch/results/outcome.hpp"
#include "batch/workers/runner.hpp"

namespace forestcoll::cli::batch {

/// As written on the command line.
struct Arguments {
  std::string directory, output, manifest;
  bool all = false;
  std::vector<std::string> include, exclude;
  std::vector<std::string> collectives = {"allreduce"}, targets, trees;
  bool collectives_given = false;
  std::string jobs, memory, time_limit;  ///< empty: by the machine; by the machine; none
  bool force = false, fail_fast = false, in_process = false, mpi = false;
  std::string shard;  ///< "1/4"; empty: everything
  OutcomeArguments outcome;
  std::unique_ptr<SynthOptions> synth;  ///< added to the same command
};
void add_batch_arguments(CLI::App& command, Arguments& arguments);

/// As resolved.
struct Request {
  Assignment standard;
  RunnerLimits limits;
  int threads = 1;  ///< of the solver, in each item
  std::optional<Shard> shard;
  OutcomeRequest outcome;
};
/// Errors: S03, S04, J07, those of reading.
[[nodiscard]] Expected<Request> resolve(const Arguments& arguments);

}  // namespace forestcoll::cli::batch
