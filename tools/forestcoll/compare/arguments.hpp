// What `forestcoll compare` is asked for, and which algorithms that is.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "common/fabric.hpp"
#include "common/job/request.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/failures.hpp"

namespace forestcoll::cli {

struct CompareArguments {
  std::vector<std::string> topologies;  ///< files, at least one
  std::string collective = "allreduce";
  std::string demand;  ///< a file
  std::string root;
  std::vector<std::string> algorithms;  ///< empty: all, or those of several topologies
  std::string sizes;                    ///< empty: 1K:4G:4, or those of several topologies
  std::vector<std::string> schedules, measured;
  std::string target;           ///< that XML is for; empty: by default
  std::string gpu, parameters;  ///< empty: the fabric's own GPU
  std::string nccl_graph;
  bool cross_nic = false, nccl_constants = false;
  bool trees = false;
  bool json = false, csv = false, markdown = false, latex = false;
  std::string table, svg, html;  ///< files to write; empty: none
  int threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  ReadingOptions reading;
  Failures failures;
  JobArguments groups;
};

/// Whether several topologies are compared with one another.
[[nodiscard]] inline bool are_several(const CompareArguments& options) {
  return options.topologies.size() > 1;
}

/// Declares the options, the examples and the exit codes.
void add_compare_options(CLI::App& command, CompareArguments& options);

/// What several topologies cannot have. Errors: S04.
[[nodiscard]] Expected<void> refuse_with_several(const CompareArguments& options);

/// What process groups at once cannot have. Errors: S04.
[[nodiscard]] Expected<void> refuse_with_groups(const CompareArguments& options);

/// The names that `--algorithms` asks for, each once; "all" is ours and every baseline that has the
/// collective, without those that choose among others where groups run at once. Of several
/// topologies by default ours and what the runtime does by itself. Errors: S03 no such algorithm,
/// S04 options that say nothing to those asked for.
[[nodiscard]] Expected<std::vector<std::string>> find_algorithms(const CompareArguments& options);

}  // namespace forestcoll::cli
