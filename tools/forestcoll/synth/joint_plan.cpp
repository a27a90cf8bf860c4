#include "synth/joint_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "common/files/io.hpp"
#include "common/options/shared_options.hpp"
#include "common/report/progress_bar.hpp"
#include "common/report/report.hpp"
#include "common/report/warnings.hpp"
#include "common/synthesis/judgement.hpp"
#include "common/synthesis/output/runtime_settings.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/joint_plan.hpp"

namespace forestcoll::cli {
namespace {

constexpr const char* kOrEach = "or name a directory with -o for a schedule of each group";

// The trees of a group are solved for, and what shapes the plan has no say in them.
SynthArguments trees_alone(const SynthArguments& given, std::string_view trees) {
  SynthArguments one;
  one.topology = given.topology;
  one.collective = given.collective;
  one.collective_given = given.collective_given;
  one.format = "none";
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

Expected<Compilation> plan_of(const MadeStep& made, const Fabric& fabric,
                              const CompileOptions& options, const Console& console) {
  std::vector<PartForest> groups;
  for (const MadeGroup& group : made.groups) {
    groups.push_back({&group.part.topology, &group.made->forest});
  }
  const ProgressBar bar("making the plan", console);
  return compile_joint_plan(fabric, groups, options);
}

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
      fmt::format("leave it out, {}", kOrEach));
}

Expected<void> refuse_job_of_joint_plan(const Job& job) {
  if (job.steps.size() == 1 && job.steps.front().operations.size() == 1) return {};
  return make_error(Code::S04, "a plan is of one collective, and this job has several operations",
                    fmt::format("name one with --groups and --collective, {}", kOrEach));
}

Expected<ExitCode> make_joint_plan(const SynthArguments& arguments, const Fabric& fabric,
                                   const JobStep& step, MadeStep& made, const Console& console) {
  const auto options = options_of_plan(arguments, step.operations.front().collective);
  if (!options) return options.errors();
  Diagnostics errors;
  for (const std::string_view trees : {"", "auto", "max:4", "1"}) {
    const SynthArguments alone = trees_alone(arguments, trees);
    if (const ExitCode code = GroupMaker(alone, fabric, step, "", console).make_all(made);
        code != ExitCode::done) {
      return code;
    }
    auto plan = plan_of(made, fabric, *options, console);
    if (plan) {
      made.plan = *std::move(plan);
      return refuse_verdict(*made.plan, console).value_or(ExitCode::done);
    }
    if (errors.empty()) errors = plan.errors();
    if (!is_too_much(plan.errors()) || !arguments.trees.empty()) break;
  }
  return errors;
}

Expected<void> write_joint_plan(const SynthArguments& arguments, const Compilation& plan,
                                const Console& console) {
  if (auto done = write_output(arguments.output, plan.text); !done) return done;
  const Verdict& verdict = plan.verdict;
  note(console, fmt::format("{}: one plan, which all {} ranks run; per GPU at most {}\n  {}\n{}"
                            "next: forestcoll verify {} --topology {}",
                            arguments.output, verdict.ranks,
                            counted(static_cast<std::size_t>(verdict.threadblocks), "threadblock"),
                            verdict.usable_counts, condition_lines(verdict),
                            bash_word(arguments.output), bash_word(arguments.topology)));
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
