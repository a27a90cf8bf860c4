#include "common/synthesis/groups/relayed_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "common/job/request.hpp"
#include "common/synthesis/groups/job_groups.hpp"
#include "common/synthesis/groups/joint_plan.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/commodity.hpp"
#include "forestcoll/joint_plan.hpp"

namespace forestcoll::cli {
namespace {

// Schedules of each group that runtimes load.
bool are_programs(const SynthArguments& arguments) {
  return is_program(arguments.format) && !is_joint_plan(arguments);
}

// What can be written with relays: "forests with --format forest -o DIR, or …".
std::string relayed_formats(const SynthArguments& arguments, const Job& job) {
  const auto& operations = job.steps.front().operations;
  const bool has_plan = job.steps.size() == 1 && operations.size() == 1 &&
                        check_joint_plan(operations.front().collective).has_value();
  return fmt::format(
      "forests with --format forest -o DIR{}{}",
      has_plan ? ", or one plan of all groups with --format mscclpp -o FILE.json" : "",
      arguments.deploy.empty() ? "" : ", in place of --deploy");
}

bool reach_one_another(const Job& job, const Fabric& fabric) {
  return std::ranges::all_of(job.steps, [&](const JobStep& step) {
    return joint_demand(fabric.network, step.operations, false).has_value();
  });
}

}  // namespace

Expected<void> refuse_relayed_programs(const SynthArguments& arguments, const Job& job,
                                       const Fabric& fabric) {
  if (!has_relays(arguments.failures) || !are_programs(arguments)) return {};
  return make_error(
      Code::S04, "--relays: a runtime runs the schedule of a group on its members alone",
      fmt::format("{}write {}", reach_one_another(job, fabric) ? "leave --relays out, or " : "",
                  relayed_formats(arguments, job)));
}

Diagnostics with_way_to_relay(Diagnostics errors, const SynthArguments& arguments, const Job& job) {
  if (!are_programs(arguments)) return errors;
  for (Diagnostic& error : errors) {
    if (error.code != Code::O08) continue;
    error.remedy = fmt::format(
        "choose other groups, or let the other GPUs pass data on with --relays, and write {}",
        relayed_formats(arguments, job));
  }
  return errors;
}

}  // namespace forestcoll::cli
