// What it takes to run schedules on the GPUs that they are for: `synth --deploy DIR`.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/files/file_set.hpp"
#include "common/synthesis/output/plan_module.hpp"
#include "forestcoll/compile.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::cli {

/// A schedule and the sizes that it is for.
struct DeployedSchedule {
  NamedText file;
  std::int64_t first = 0, last = 0;  ///< bytes of the whole buffer, both included
  /// A call's whole buffer is a multiple of so many elements; of a plan, bytes.
  std::int64_t unit = 1;
  std::size_t ranks = 0;  ///< of its communicator
};

/// What a deployment is made of. The schedules are of one collective, and sorted by size.
struct Deployment {
  const Topology& topology;
  const CompileOptions& options;
  std::vector<DeployedSchedule> schedules;
};

/// The schedule with the window that its options name, or the target's. `topology` has its ranks.
[[nodiscard]] DeployedSchedule deployed_schedule(const Compilation& compiled,
                                                 const Topology& topology);

/// The least that all units divide; nothing where 63 bits do not hold it.
[[nodiscard]] std::optional<std::int64_t> common_unit(std::span<const DeployedSchedule> schedules);
/// What nccl-tests is told to run sizes for which they are: "-b 1024 -e 1048576 -f 2". Empty where
/// no size of their windows is a multiple of all units.
[[nodiscard]] std::string size_words(std::span<const DeployedSchedule> schedules,
                                     const CompileOptions& options);
/// For which calls plans are not.
class PlanCaveats {
 public:
  void add(const DeployedSchedule& schedule, const CompileOptions& options);
  /// Sentences that begin with an empty line; may be empty.
  [[nodiscard]] std::string in_words() const;

 private:
  bool adds_ = false, places_ = false, begins_ = false, multicasts_ = false;
};
/// As its module registers it, without ranks. `file`: below DIR.
[[nodiscard]] RegisteredPlan registered_plan(const DeployedSchedule& schedule,
                                             const CompileOptions& options,
                                             const std::string& file);
/// Whether memory channels join hosts that share a domain of NVLink, as from 0.10 on.
[[nodiscard]] bool joins_hosts(const CompileOptions& options);

/// The files of DIR: the schedules in a folder of their own, under names that sort as the runtime
/// is to look at them; `env.sh` with what the runtime reads; `hosts` with the order of ranks;
/// `run.sh` with the launcher's and nccl-tests' line for these sizes; for plans a Python module
/// that registers them; `README.txt`. The same input gives the same bytes: no host or path is in
/// them. Errors: S04 where the research runtime would load only some of the files.
[[nodiscard]] Expected<std::vector<NamedText>> deployment_files(const Deployment& deployment);

/// The line of the summary that says for what buffers of the runtime the schedule is, and the
/// times.
[[nodiscard]] std::string buffers_line(std::int64_t buffer_bytes);

/// The line of the summary that says how to go on: with the deployment in `directory`, or where
/// that is empty, with a file that was written alone. Empty for what no runtime loads.
[[nodiscard]] std::string next_line(const CompileOptions& options, const Network& network,
                                    const std::string& output, const std::string& directory);

}  // namespace forestcoll::cli
