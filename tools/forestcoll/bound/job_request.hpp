// What `forestcoll bound` is asked of process groups, from words of the command line to a job.
#pragma once

#include "bound/arguments.hpp"
#include "command.hpp"
#include "common/fabric.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/job.hpp"

namespace CLI {
class App;
}

namespace forestcoll::cli {

/// --groups, --at-once, --job, --mesh and --mesh-order; --relays then goes without --members, too.
/// REQUIRES: the command has --relays.
void add_job_options(CLI::App& command, JobArguments& arguments);

/// S04 where options of groups and others do not go together.
[[nodiscard]] Expected<void> refuse_misplaced_groups(const BoundArguments& options);

/// The job on a fabric: a step of all operations of --at-once, or a step per collective of
/// --groups, those that `bound` gives where none is named. Errors: those of reading files and of
/// what `forestcoll/job.hpp` parses, S03 an order that there is not.
[[nodiscard]] Expected<Job> job_of(const BoundArguments& options, const Fabric& fabric);

/// Whether GPUs outside of a group pass its data on.
[[nodiscard]] bool has_relays(const BoundArguments& options);

}  // namespace forestcoll::cli
