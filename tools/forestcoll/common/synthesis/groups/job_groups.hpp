// The groups of a job, each in its part of the links, and what `synth` makes of them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command.hpp"
#include "common/fabric.hpp"
#include "common/synthesis/output/deploy_job.hpp"
#include "common/synthesis/request/options.hpp"
#include "forestcoll/compile.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/job_parts.hpp"
#include "forestcoll/joint_bound.hpp"

namespace forestcoll::cli {

/// Whether runtimes load the format.
[[nodiscard]] bool is_program(const std::string& format);

/// What was made for one group, and for all whose parts differ from its by names alone.
struct GroupSchedule {
  std::string text;
  CollectiveForest forest;                            ///< of a collective of trees
  std::shared_ptr<const GroupDeployment> deployment;  ///< with --deploy
  std::string_view extension;                         ///< of its file
  std::string algorithm;
  Ratio algbw;  ///< GB/s, in its part of the links
  std::int32_t threadblocks = 0;
  std::string usable_counts;
  std::vector<std::string> conditions;
};

/// A group with its schedule; files are named where some are written.
struct MadeGroup {
  JobPart part;
  std::shared_ptr<const GroupSchedule> made;
  std::string file, part_file;
};

struct MadeStep {
  StepBound bound;
  std::vector<MadeGroup> groups;
  std::optional<Compilation> plan = {};  ///< of all groups, where one is asked for
};

/// The parts of all groups, at the highest joint rate. Errors: those of `bound_step` and
/// `job_parts`.
[[nodiscard]] Expected<MadeStep> divide(const JobStep& step, const Fabric& fabric, bool relays,
                                        const Console& console);

/// Makes what is not made yet, group by group.
class GroupMaker {
 public:
  /// `name`: of the step, before names of plans. REQUIRES: all but the name outlive it.
  GroupMaker(const SynthArguments& arguments, const Fabric& fabric, const JobStep& step,
             std::string name, const Console& console);

  /// Of all groups of the step. What ends the command has been told.
  [[nodiscard]] ExitCode make_all(std::vector<MadeGroup>& groups);

 private:
  std::shared_ptr<const GroupSchedule> make(const JobPart& part, ExitCode& code);
  std::shared_ptr<const GroupSchedule> make_anew(const JobPart& part, ExitCode& code);
  std::shared_ptr<const GroupSchedule> refused(Diagnostics errors, const JobOperation& operation,
                                               ExitCode& code) const;

  const SynthArguments& arguments_;
  const Fabric& fabric_;
  const JobStep& step_;
  std::string name_;
  const Console& console_;
  std::int32_t sharing_;
  bool warned_ = false;  // the groups of a job are warned of once
  std::map<std::string, std::shared_ptr<const GroupSchedule>> known_;
};

}  // namespace forestcoll::cli
