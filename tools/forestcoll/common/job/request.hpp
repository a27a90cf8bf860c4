// What a command is asked of process groups at once, from words of the command line to a job.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/failures.hpp"
#include "forestcoll/job.hpp"

namespace CLI {
class App;
}

namespace forestcoll::cli {

struct Console;

/// As written on the command line; empty where not given.
struct JobArguments {
  std::optional<std::string> groups;  ///< words, or a file of lists
  std::vector<std::string> at_once;   ///< operations
  std::string job;                    ///< a file
  std::string mesh;
  std::string mesh_order;

  [[nodiscard]] bool given() const { return groups || !at_once.empty() || !job.empty(); }
};

/// --groups, --at-once, --job, --mesh and --mesh-order; --relays then goes without --members, too.
/// REQUIRES: the command has --relays.
void add_job_options(CLI::App& command, JobArguments& arguments);

/// The same of a command that knows groups, and no operations: --groups, --mesh and --mesh-order.
void add_groups_options(CLI::App& command, JobArguments& arguments);

/// Of a command that knows groups, and no operations: what to do in place of --at-once or --job,
/// where these are among words that it does not know, else nothing. `instead`: the command that
/// takes what `synth` writes of operations.
[[nodiscard]] std::string explain_operations(const std::vector<std::string>& unknown,
                                             const std::string& instead);

/// What else of the command line is about a job.
struct JobContext {
  const Failures& failures;
  const std::string& collective;  ///< empty: not given
  const std::string& root;
  bool knows_operations = true;  ///< whether the command has --at-once and --job
};

/// S04 where options of groups do not go together, or stand without any.
[[nodiscard]] Expected<void> refuse_misplaced_groups(const JobArguments& job,
                                                     const JobContext& beside);
/// S04: another option, which is about one collective.
[[nodiscard]] Diagnostic no_option_of_groups(const char* other);

/// The job on a fabric of so many ranks: a step of all operations of --at-once, or a step per
/// collective of --groups, those that `bound` gives where none is named. Notes say what a reader of
/// others' files took for granted. Errors: those of reading files and of what `forestcoll/job.hpp`
/// parses, S03 an order that there is not.
[[nodiscard]] Expected<Job> job_of(const JobArguments& job, const JobContext& beside,
                                   std::size_t ranks, const Console& console,
                                   MeshFit fit = MeshFit::all_ranks);

/// Whether --groups names a file, "-" too, and has no words.
[[nodiscard]] bool is_groups_file(const std::string& groups);

/// The groups of --groups alone, on a fabric of so many ranks. Errors: as those of `job_of`.
/// REQUIRES: they are given.
[[nodiscard]] Expected<Groups> groups_of(const JobArguments& job, std::size_t ranks);

/// Whether GPUs outside of a group pass its data on.
[[nodiscard]] bool has_relays(const Failures& failures);

}  // namespace forestcoll::cli
