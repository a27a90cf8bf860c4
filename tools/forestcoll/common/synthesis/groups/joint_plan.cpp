#include "common/synthesis/groups/joint_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "common/files/io.hpp"
#include "common/job/request.hpp"
#include "common/options/shared_options.hpp"
#include "common/report/progress_bar.hpp"
#include "common/report/report.hpp"
#include "common/report/warnings.hpp"
#include "common/synthesis/groups/run_job.hpp"
#include "common/synthesis/judgement.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/failures.hpp"
#include "forestcoll/joint_plan.hpp"

namespace forestcoll::cli {
namespace {

constexpr const char* kForEach = "name a directory with -o for a schedule of each group";

// Runtimes run the schedule of a group on its members alone.
std::string for_each_group(const SynthArguments& arguments) {
  const bool relays = has_relays(arguments.failures);
  return kForEach + std::string(relays ? ", with --format forest, as GPUs are to relay" : "");
}

// The trees of a group are solved for, and what shapes the plan has no say in them.
SynthArguments trees_alone(const SynthArguments& given, std::string_view trees,
                           std::string_view format) {
  SynthArguments one;
  one.topology = given.topology;
  one.collective = given.collective;
  one.collective_given = given.collective_given;
  one.format = format;
  one.format_given = true;
  one.trees = given.trees.empty() ? trees : given.trees;
  one.solver = given.solver;
  return one;
}

// What shapes the plan.
Expected<CompileOptions> options_of_plan(SynthArguments arguments, Collective collective) {
  arguments.collective = to_string(collective);
  arguments.root.clear();
  auto request = resolve(arguments);
  if (!request) return request.errors();
  return std::move(request->compile);
}

// More threadblocks, operations, channels or chunks than there may be, which fewer trees need.
bool is_too_much(const Diagnostics& errors) {
  constexpr std::array kCodes = {Code::T01, Code::T02, Code::T03, Code::T04};
  return std::ranges::find(kCodes, errors.front().code) != kCodes.end();
}

Expected<JointPlan> plan_of(const std::vector<MadeGroup>& groups, const Fabric& fabric,
                            const CompileOptions& options, const Console& console) {
  std::vector<PartForest> forests;
  for (const MadeGroup& group : groups) {
    forests.push_back({&group.part.topology, &group.made->forest});
  }
  const ProgressBar bar("making the plan", console);
  return compile_joint_plan(fabric, forests, options);
}

// By so much for a large message: the first ones reach the joint rate, and are faster for small
// ones.
constexpr double kMuchFaster = 1.05;

bool is_much_faster(const JointPlan& plan, const JointPlan& than) {
  return plan.seconds && than.seconds && *plan.seconds * kMuchFaster < *than.seconds;
}

bool any_relays(const std::vector<MadeGroup>& groups) {
  return std::ranges::any_of(
      groups, [](const MadeGroup& group) { return has_relays(group.part.topology); });
}

/// Makes plans of several forests of the groups, and keeps the fastest.
class JointPlanMaker {
 public:
  JointPlanMaker(const SynthArguments& arguments, const Fabric& fabric, const JobStep& step,
                 const CompileOptions& options, const Console& console)
      : arguments_(arguments), fabric_(fabric), step_(step), options_(options), console_(console) {}

  // The optimum's trees, or fewer where those do not fit. What ends the command has been told.
  ExitCode try_trees(const std::vector<MadeGroup>& groups) { return try_trees(groups, console_); }

  // Where plans can be timed: what each group would have by itself, by the routes that a runtime
  // takes. Without relays, if there are any: they carry more, and take threadblocks of their own.
  // Nobody is told of what fails, as there is a plan.
  void try_others(const std::vector<MadeGroup>& groups) {
    if (!best_ || !best_->seconds) return;
    Diagnostics unheard;
    Console silent = console_;
    silent.quiet = true;
    silent.findings = &unheard;
    if (!any_relays(groups)) {
      (void)try_one(groups, "", "mscclpp", silent);
      return;
    }
    const auto without = divide(step_, fabric_, false, silent);
    if (!without) return;
    (void)try_trees(without->groups, silent);
    (void)try_one(without->groups, "", "mscclpp", silent);
  }

  Expected<ExitCode> finish(MadeStep& made) {
    if (!best_) return errors_;
    made.groups = std::move(groups_);
    made.plan = std::move(best_->made);
    return refuse_verdict(*made.plan, console_).value_or(ExitCode::done);
  }

 private:
  ExitCode try_trees(const std::vector<MadeGroup>& groups, const Console& console) {
    for (const std::string_view trees : {"", "auto", "max:4", "1"}) {
      const ExitCode code = try_one(groups, trees, "none", console);
      if (code != ExitCode::done) return code;
      if (!were_too_many_ || !arguments_.trees.empty()) break;
    }
    return ExitCode::done;
  }

  ExitCode try_one(std::vector<MadeGroup> groups, std::string_view trees, std::string_view format,
                   const Console& console) {
    const SynthArguments alone = trees_alone(arguments_, trees, format);
    const ExitCode code = GroupMaker(alone, fabric_, step_, "", console).make_all(groups);
    if (code != ExitCode::done) return code;
    auto plan = plan_of(groups, fabric_, options_, console);
    were_too_many_ = !plan && is_too_much(plan.errors());
    if (!plan) {
      if (errors_.empty()) errors_ = plan.errors();
    } else if (!best_ || is_much_faster(*plan, *best_)) {
      best_ = *std::move(plan);
      groups_ = std::move(groups);
    }
    return ExitCode::done;
  }

  const SynthArguments& arguments_;
  const Fabric& fabric_;
  const JobStep& step_;
  const CompileOptions& options_;
  const Console& console_;
  std::optional<JointPlan> best_;
  std::vector<MadeGroup> groups_;
  bool were_too_many_ = false;  // the last trees, for MSCCL++
  Diagnostics errors_;
};

}  // namespace

bool is_joint_plan(const SynthArguments& arguments) {
  return arguments.format == "mscclpp" && arguments.deploy.empty() &&
         arguments.output.ends_with(".json");
}

Expected<void> refuse_with_joint_plan(const SynthArguments& arguments) {
  const char* other = first_given(
      {{"--size", !arguments.size.empty()}, {"--algorithm", arguments.baseline.chosen()}});
  if (other == nullptr) {
    const auto options = options_of_plan(arguments, Collective::allreduce);
    return options ? Expected<void>() : options.errors();
  }
  return make_error(
      Code::S04, fmt::format("{} is for the schedule of one group, not for a plan of all", other),
      fmt::format("leave it out, or {}", kForEach));
}

Expected<void> refuse_job_of_joint_plan(const Job& job, const SynthArguments& arguments) {
  const std::string other = for_each_group(arguments);
  if (job.steps.size() != 1 || job.steps.front().operations.size() != 1) {
    return make_error(Code::S04, "a plan is of one collective, and this job has several operations",
                      fmt::format("name one with --groups and --collective, or {}", other));
  }
  auto done = check_joint_plan(job.steps.front().operations.front().collective);
  if (done) return done;
  Diagnostics errors = done.errors();
  errors.front().remedy = other;
  return errors;
}

Expected<ExitCode> make_joint_plan(const SynthArguments& arguments, const Fabric& fabric,
                                   const JobStep& step, MadeStep& made, const Console& console) {
  const auto options = options_of_plan(arguments, step.operations.front().collective);
  if (!options) return options.errors();
  JointPlanMaker maker(arguments, fabric, step, *options, console);
  if (const ExitCode code = maker.try_trees(made.groups); code != ExitCode::done) return code;
  maker.try_others(made.groups);
  return maker.finish(made);
}

Expected<void> write_joint_plan(const SynthArguments& arguments, const Compilation& plan,
                                const Console& console) {
  if (auto done = write_output(arguments.output, plan.text); !done) return done;
  const Verdict& verdict = plan.verdict;
  note(console, fmt::format("{}: one plan, which all {} ranks run; per GPU at most {}\n  {}\n{}"
                            "next: {}",
                            arguments.output, verdict.ranks,
                            counted(static_cast<std::size_t>(verdict.threadblocks), "threadblock"),
                            verdict.usable_counts, condition_lines(verdict),
                            verify_command(arguments, arguments.output)));
  return {};
}

Json joint_plan_json(const Compilation& plan, const std::string& file) {
  const Verdict& verdict = plan.verdict;
  Json json = {{"file", file},
               {"algbw", exact(verdict.algbw.value_or(Ratio(0)))},
               {"threadblocks", verdict.threadblocks},
               {"chunks", verdict.chunks},
               {"usable_counts", verdict.usable_counts}};
  if (!verdict.conditions.empty()) json["conditions"] = verdict.conditions;
  return json;
}

}  // namespace forestcoll::cli
