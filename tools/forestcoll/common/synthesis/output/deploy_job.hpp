// What it takes to run the schedules of process groups at once: `synth --deploy DIR` of a job.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "common/synthesis/output/deploy.hpp"
#include "forestcoll/job.hpp"

namespace forestcoll::cli {

/// A schedule with the options that it was made by. Groups that have the same one share it.
struct GroupDeployment {
  DeployedSchedule schedule;
  CompileOptions options;
};

struct DeployedGroup {
  std::string file;  ///< of its schedule, below DIR
  std::size_t group = 0;
  std::shared_ptr<const GroupDeployment> made;
  std::int64_t per_box = 0;  ///< GPUs of it in every box; 0 where boxes differ
};

/// An operation of a step. The groups are those of two ranks and more.
struct DeployedOperation {
  std::string key;  ///< "0", of several steps "1/0"
  const JobOperation& operation;
  std::vector<DeployedGroup> groups;
};

struct JobDeployment {
  const Topology& topology;  ///< of all ranks
  std::vector<DeployedOperation> operations;
};

/// The files of DIR beside those that its groups name: for XML folders of what each rank's runtime
/// reads, one for all ranks where they read the same; `env.sh`, which picks a rank's folder;
/// `hosts`; `run.sh`, which runs nccl-tests in all groups of an operation at once; for plans the
/// Python module that registers them; and `README.txt`. The same input gives the same bytes.
/// Errors: S04 where the research runtime would load only some of a rank's files, or ranks of one
/// communicator would take different schedules for a call. Cost: linear in
/// ranks times operations, and in the texts.
[[nodiscard]] Expected<std::vector<NamedText>> job_deployment_files(const JobDeployment& job);

/// Why a rank's runtime would take another operation's schedule for a call, in a sentence for each
/// kind of call; the data would be right, over other links.
[[nodiscard]] std::vector<std::string> mistakable(const JobDeployment& job);

/// The first operation that `run.sh` can run; empty: none.
[[nodiscard]] std::string operation_to_test(const JobDeployment& job);

}  // namespace forestcoll::cli
