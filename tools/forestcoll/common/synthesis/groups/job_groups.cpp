#include "common/synthesis/groups/job_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/report/progress_bar.hpp"
#include "common/report/report.hpp"
#include "common/synthesis/judgement.hpp"
#include "common/synthesis/made_schedule.hpp"
#include "common/synthesis/output/plan_facts.hpp"
#include "common/synthesis/output/runtime_settings.hpp"
#include "common/synthesis/prepare.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/schedule.hpp"

namespace forestcoll::cli {
namespace {

// Bytes of each member that chunks divide, of large sizes and of small ones.
constexpr std::int64_t kLargeUnit = 1024, kSmallUnit = 16, kManyUnits = 16;

// Of how many groups the busiest GPU is a member: they share its threadblocks evenly.
std::int32_t most_groups_of_a_rank(const JobStep& step, std::size_t ranks) {
  std::vector<std::int32_t> count(ranks, 0);
  for (const JobOperation& operation : step.operations) {
    for (const auto& group : operation.groups) {
      for (const Rank r : group) count[r.index()] += group.size() > 1 ? 1 : 0;
    }
  }
  return std::ranges::max(count);
}

// A size near to this one that chunks of the members divide: runtimes select schedules for no
// other.
std::int64_t divisible(std::int64_t bytes, std::size_t members) {
  const auto n = static_cast<std::int64_t>(members);
  const std::int64_t unit = bytes >= kManyUnits * kLargeUnit * n ? kLargeUnit * n : kSmallUnit * n;
  return (bytes + unit - 1) / unit * unit;
}

// What `synth` would be asked for of this group alone.
SynthArguments arguments_for(const SynthArguments& given, const JobOperation& operation,
                             const Topology& part, const ChosenGpu& gpu,
                             std::int32_t groups_of_a_rank) {
  SynthArguments one = given;
  one.output = "-";
  one.json = false;
  one.failures = {};
  one.collective = to_string(operation.collective);
  one.root = operation.root ? part.nodes[part.ranks[*operation.root]].id : "";
  // Forests and flows are one thing to a job: what trees carry, and what paths do.
  const bool is_paths = is_personalized(operation.collective);
  if (is_paths && given.format == "forest") one.format = "flows";
  if (is_paths && given.trees == "optimal") one.trees.clear();  // a word of trees alone
  if (!is_paths && given.format == "flows") one.format = "forest";
  if (!is_program(one.format)) return one;
  one.sms = given.sms.value_or(default_sms(given.target, gpu)) / groups_of_a_rank;
  const bool is_free = given.trees.empty() && given.size.empty() && !given.baseline.chosen();
  if (operation.bytes && is_free) {
    one.size = std::to_string(divisible(*operation.bytes, part.ranks.size()));
  }
  return one;
}

std::string algorithm_of(const MadeSchedule& made, const SynthArguments& asked) {
  if (made.choice) return made.choice->name;
  if (made.baseline) return asked.baseline.algorithm;
  if (made.compiled.paths) return "paths";
  return fmt::format("forestcoll, k {}", made.solved().forest.k);
}

// MSCCL++ keeps plans by collective and name, so that those of a process have a name each:
// "op0-allgather-8gpus-k1", of several steps "step1-op0-…".
std::string plan_name_of(const JobPart& part, const JobOperation& operation,
                         const std::string& step, const std::string& text) {
  const std::string name = facts_of_plan(text).name;
  return fmt::format("{}op{}-{}-{}gpus-{}", step, part.operation, to_string(operation.collective),
                     part.topology.ranks.size(), name.substr(name.rfind('-') + 1));
}

std::string_view extension_of(const std::string& format) {
  if (format == "msccl" || format == "forest-xml") return "xml";
  return format == "dot" || format == "svg" ? format : std::string_view("json");
}

}  // namespace

bool is_program(const std::string& format) {
  return format == "msccl" || format == "mscclpp";
}

Expected<MadeStep> divide(const JobStep& step, const Fabric& fabric, bool relays,
                          const Console& console) {
  const ProgressBar bar("dividing the links among the groups", console);
  auto bound = bound_step(fabric.network, step.operations, relays, {.shares = true});
  if (!bound) return bound.errors();
  auto parts =
      job_parts(fabric.topology, fabric.network, step.operations, bound->together.shares, relays);
  if (!parts) return parts.errors();
  MadeStep made{*std::move(bound), {}};
  for (JobPart& part : *parts) made.groups.push_back({std::move(part), nullptr, "", ""});
  return made;
}

GroupMaker::GroupMaker(const SynthArguments& arguments, const Fabric& fabric, const JobStep& step,
                       std::string name, const Console& console)
    : arguments_(arguments),
      fabric_(fabric),
      step_(step),
      name_(std::move(name)),
      console_(console),
      sharing_(most_groups_of_a_rank(step, fabric.network.ranks.size())) {}

ExitCode GroupMaker::make_all(std::vector<MadeGroup>& groups) {
  for (MadeGroup& group : groups) {
    ExitCode code = ExitCode::done;
    group.made = make(group.part, code);
    if (!group.made) return code;
  }
  return ExitCode::done;
}

// Nothing: it is told why, with this code.
std::shared_ptr<const GroupSchedule> GroupMaker::make(const JobPart& part, ExitCode& code) {
  const bool is_for_ranks = is_program(arguments_.format) || arguments_.format == "none";
  const std::string key = fmt::format(
      "{} {}", part.operation, is_for_ranks ? shape_of(part.topology) : std::to_string(part.group));
  auto& known = known_[key];
  if (!known) known = make_anew(part, code);
  return known;
}

std::shared_ptr<const GroupSchedule> GroupMaker::make_anew(const JobPart& part, ExitCode& code) {
  const JobOperation& operation = step_.operations[part.operation];
  const auto asked =
      with_format(arguments_for(arguments_, operation, part.topology, fabric_.gpu, sharing_));
  if (!asked) return refused(asked.errors(), operation, code);
  if (asked->sms == 0) {
    return refused({make_error(Code::S03,
                               fmt::format("--sms: a GPU is in {} groups at once, which have not "
                                           "one SM each",
                                           sharing_),
                               "name as many SMs as groups at least")},
                   operation, code);
  }
  if (operation.demand && !arguments_.deploy.empty()) {
    return refused(
        {make_error(Code::T06, "--deploy: no call of a runtime has amounts that differ by pair",
                    "write the schedules with -o, for callers that have them")},
        operation, code);
  }
  auto fabric = make_fabric(part.topology, fabric_.gpu);
  if (!fabric) return refused(fabric.errors(), operation, code);
  Console silent = console_;
  silent.quiet = true;
  auto prepared = prepare_on(*std::move(fabric), *asked, silent);
  if (!prepared) return refused(prepared.errors(), operation, code);
  CompileOptions& options = (*prepared)->request.compile;
  if (operation.demand) options.demand = ParsedDemand{*operation.demand, operation.demand->total()};
  Laps laps;
  auto made = make_schedule(**prepared, laps, console_);
  if (!made) return refused(made.errors(), operation, code);
  if (const auto wrong = refuse_verdict(made->compiled, console_)) {
    code = *wrong;
    return nullptr;
  }
  warn_of_schedule(*made, **prepared, warned_ ? silent : console_);
  warned_ = true;
  if (asked->format == "mscclpp") {
    std::string& text = made->compiled.text;
    const std::string name = plan_name_of(part, operation, name_, text);
    text = renamed_plan(std::move(text), name);
  }
  std::shared_ptr<GroupDeployment> deployment;
  if (!arguments_.deploy.empty()) {
    deployment = std::make_shared<GroupDeployment>(
        GroupDeployment{deployed_schedule(made->compiled, part.topology), made->compiled.options});
  }
  const Verdict& verdict = made->verdict();
  return std::make_shared<GroupSchedule>(GroupSchedule{
      std::move(made->compiled.text), made->solved().forest, std::move(deployment),
      extension_of(asked->format), algorithm_of(*made, *asked), reached_by(made->compiled),
      verdict.threadblocks, verdict.usable_counts, verdict.conditions});
}

std::shared_ptr<const GroupSchedule> GroupMaker::refused(Diagnostics errors,
                                                         const JobOperation& operation,
                                                         ExitCode& code) const {
  for (Diagnostic& error : errors) error.message = operation.name + ": " + error.message;
  code = fail(errors, console_);
  return nullptr;
}

}  // namespace forestcoll::cli
