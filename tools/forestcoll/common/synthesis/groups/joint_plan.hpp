// One plan of MSCCL++ for all groups of a job.
#pragma once

#include <string>

#include "command.hpp"
#include "common/report/report.hpp"
#include "common/synthesis/groups/job_groups.hpp"
#include "common/synthesis/request/options.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/job.hpp"

namespace forestcoll::cli {

/// Whether a file is asked for, and no directory: `--format mscclpp -o FILE.json`. REQUIRES:
/// arguments that `with_format` returned.
[[nodiscard]] bool is_joint_plan(const SynthArguments& arguments);

/// S04 options that shape the schedule of one group; errors of `resolve`.
[[nodiscard]] Expected<void> refuse_with_joint_plan(const SynthArguments& arguments);
/// S04 a job of several collectives; T06 one of a collective that no such plan is of.
[[nodiscard]] Expected<void> refuse_job_of_joint_plan(const Job& job,
                                                      const SynthArguments& arguments);

/// Makes the trees of all groups in their parts, and of these a plan: those of the exact optimum,
/// or where these do not fit MSCCL++ and no number of trees is asked for, fewer. Those that each
/// group's own plan has, and such without relays, are taken where they are 5 % faster by
/// simulation. What ends the command has been told.
[[nodiscard]] Expected<ExitCode> make_joint_plan(const SynthArguments& arguments,
                                                 const Fabric& fabric, const JobStep& step,
                                                 MadeStep& made, const Console& console);

/// Writes it to -o.
[[nodiscard]] Expected<void> write_joint_plan(const SynthArguments& arguments,
                                              const Compilation& plan, const Console& console);

[[nodiscard]] Json joint_plan_json(const Compilation& plan, const std::string& file);

}  // namespace forestcoll::cli
