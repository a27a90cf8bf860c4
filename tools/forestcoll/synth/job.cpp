#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/fabric.hpp"
#include "common/files/file_set.hpp"
#include "common/files/io.hpp"
#include "common/job/figures.hpp"
#include "common/job/report.hpp"
#include "common/options/shared_options.hpp"
#include "common/report/json_version.hpp"
#include "common/report/progress_bar.hpp"
#include "common/report/report.hpp"
#include "common/report/table.hpp"
#include "common/synthesis/judgement.hpp"
#include "common/synthesis/made_schedule.hpp"
#include "common/synthesis/output/deploy_job.hpp"
#include "common/synthesis/output/plan_facts.hpp"
#include "common/synthesis/output/rank_order.hpp"
#include "common/synthesis/output/runtime_settings.hpp"
#include "common/synthesis/prepare.hpp"
#include "common/synthesis/request/nccl_files.hpp"
#include "common/synthesis/request/refusals.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/job_parts.hpp"
#include "forestcoll/joint_bound.hpp"
#include "forestcoll/schedule.hpp"
#include "forestcoll/topology_text.hpp"
#include "synth/ways.hpp"

namespace forestcoll::cli {
namespace {

// Bytes of each member that chunks divide, of large sizes and of small ones.
constexpr std::int64_t kLargeUnit = 1024, kSmallUnit = 16, kManyUnits = 16;

bool is_program(const std::string& format) {
  return format == "msccl" || format == "mscclpp";
}

// What was made for one group, and for all whose parts differ from its by names alone.
struct GroupSchedule {
  std::string text;
  std::shared_ptr<const GroupDeployment> deployment;  ///< with --deploy
  std::string_view extension;                         // of its file
  std::string algorithm;
  Ratio algbw;  // GB/s, in its part of the links
  std::int32_t threadblocks = 0;
  std::string usable_counts;
  std::vector<std::string> conditions;
};

// A group with its schedule; files are named where some are written.
struct MadeGroup {
  JobPart part;
  std::shared_ptr<const GroupSchedule> made;
  std::string file, part_file;
};

struct MadeStep {
  StepBound bound;
  std::vector<MadeGroup> groups;
};

Expected<void> refuse_misplaced(const SynthArguments& arguments, const JobArguments& job) {
  if (auto done =
          refuse_misplaced_groups(job, {arguments.failures, arguments.collective, arguments.root});
      !done) {
    return done;
  }
  if (const char* other = first_given({{"--demand", !arguments.demand.empty()},
                                       {"--tune", !arguments.tune.empty()},
                                       {"--warm", !arguments.solver.warm.empty()},
                                       {"--tradeoff", arguments.solver.tradeoff},
                                       {"--format goal", arguments.format == "goal"},
                                       {"--format chakra", arguments.format == "chakra"},
                                       {"--format nccl-tuner", arguments.format == kNcclTuner},
                                       {"--format ncclx-tuner", arguments.format == kNcclxTuner},
                                       {"--format nccl-graph", arguments.format == kNcclGraph}})) {
    return no_option_of_groups(other);
  }
  if (has_relays(arguments.failures) && is_program(arguments.format)) {
    return make_error(Code::S04,
                      "--relays: a runtime runs XML and plans on the members of a group alone",
                      "leave --relays out, or write --format forest");
  }
  if (!arguments.deploy.empty()) {
    const auto with_target = with_format(arguments);
    if (!with_target) return with_target.errors();
    const auto format = is_program(with_target->format) ? Format::msccl : Format::forest;
    if (auto done = refuse_with_deploy(*with_target, format); !done) return done;
    return refuse_directory(arguments.deploy, "--deploy");
  }
  const bool writes = arguments.format != "none";
  if (writes != (arguments.output != "-")) {
    return make_error(Code::S04,
                      writes ? "process groups at once have a schedule each, and -o names no "
                               "directory for them"
                             : "--format none writes no schedules, and -o names a directory for "
                               "some",
                      writes ? "name a directory, empty or not there, with -o" : "leave -o out");
  }
  if (!writes) return {};
  return refuse_directory(arguments.output, "-o");
}

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
                             const Topology& part, std::int32_t groups_of_a_rank) {
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
  one.sms = given.sms.value_or(default_sms(given.target)) / groups_of_a_rank;
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

// Makes what is not made yet, group by group.
class GroupMaker {
 public:
  // `name`: of the step, before names of plans.
  GroupMaker(const SynthArguments& arguments, const Fabric& fabric, const JobStep& step,
             std::string name, const Console& console)
      : arguments_(arguments),
        fabric_(fabric),
        step_(step),
        name_(std::move(name)),
        console_(console),
        sharing_(most_groups_of_a_rank(step, fabric.network.ranks.size())) {}

  // Nothing: it is told why, with this code.
  std::shared_ptr<const GroupSchedule> make(const JobPart& part, ExitCode& code) {
    const bool is_for_ranks = is_program(arguments_.format) || arguments_.format == "none";
    const std::string key =
        fmt::format("{} {}", part.operation,
                    is_for_ranks ? shape_of(part.topology) : std::to_string(part.group));
    auto& known = known_[key];
    if (!known) known = make_anew(part, code);
    return known;
  }

 private:
  std::shared_ptr<const GroupSchedule> make_anew(const JobPart& part, ExitCode& code) {
    const JobOperation& operation = step_.operations[part.operation];
    const auto asked = with_format(arguments_for(arguments_, operation, part.topology, sharing_));
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
    if (operation.demand) options.demand = ParsedDemand{*operation.demand, total_of(operation)};
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
      deployment = std::make_shared<GroupDeployment>(GroupDeployment{
          deployed_schedule(made->compiled, part.topology), made->compiled.options});
    }
    const Verdict& verdict = made->verdict();
    return std::make_shared<GroupSchedule>(GroupSchedule{
        std::move(made->compiled.text), std::move(deployment), extension_of(asked->format),
        algorithm_of(*made, *asked), reached_by(made->compiled), verdict.threadblocks,
        verdict.usable_counts, verdict.conditions});
  }

  std::shared_ptr<const GroupSchedule> refused(Diagnostics errors, const JobOperation& operation,
                                               ExitCode& code) const {
    for (Diagnostic& error : errors) error.message = operation.name + ": " + error.message;
    code = fail(errors, console_);
    return nullptr;
  }

  static std::int64_t total_of(const JobOperation& operation) {
    std::int64_t total = 0;
    const std::size_t n = operation.demand->ranks();
    for (std::size_t i = 0; i < n * n; ++i) {
      total += (*operation.demand)(Rank(i / n), Rank(i % n));
    }
    return total;
  }

  const SynthArguments& arguments_;
  const Fabric& fabric_;
  const JobStep& step_;
  std::string name_;
  const Console& console_;
  std::int32_t sharing_;
  bool warned_ = false;  // the groups of a job are warned of once
  std::map<std::string, std::shared_ptr<const GroupSchedule>> known_;
};

// "1/0-allreduce-3.xml": of the second step's first operation, the fourth group.
void name_files(MadeGroup& group, std::size_t step, const Job& job) {
  const JobOperation& operation = job.steps[step].operations[group.part.operation];
  const std::string base =
      fmt::format("{}{}-{}-{}", job.steps.size() > 1 ? fmt::format("{}/", step) : "",
                  group.part.operation, to_string(operation.collective), group.part.group);
  group.file = fmt::format("{}.{}", base, group.made->extension);
  group.part_file = fmt::format("{}.topology.json", base);
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

// The least that a group of an operation reaches.
Ratio least_algbw(const MadeStep& made, std::size_t operation) {
  std::optional<Ratio> least;
  for (const MadeGroup& group : made.groups) {
    if (group.part.operation != operation) continue;
    least = least ? std::min(*least, group.made->algbw) : group.made->algbw;
  }
  return least.value_or(Ratio(0));
}

std::string names_of(const MadeStep& made, std::size_t operation) {
  std::vector<std::string> names;
  for (const MadeGroup& group : made.groups) {
    if (group.part.operation != operation) continue;
    if (std::ranges::find(names, group.made->algorithm) == names.end()) {
      names.push_back(group.made->algorithm);
    }
  }
  return fmt::format("{}", fmt::join(names, "; "));
}

// What part of the joint optimum all operations reach together: that of the one that lags.
Ratio part_reached(const JobStep& step, const MadeStep& made) {
  const StepFigures figures(step, made.bound);
  Ratio least = 1;
  for (std::size_t i = 0; i < step.operations.size(); ++i) {
    const auto part =
        checked_div(least_algbw(made, i), figures.part_of(made.bound.together.reached, i));
    if (part) least = std::min(least, *part);
  }
  return least;
}

std::string step_in_words(const JobStep& step, const MadeStep& made) {
  const StepFigures figures(step, made.bound);
  Table table{{"operation", "groups", "optimum GB/s", "reached GB/s", "by"}};
  for (std::size_t i = 0; i < step.operations.size(); ++i) {
    const auto groups = std::ranges::count(
        made.groups, i, [](const MadeGroup& group) { return group.part.operation; });
    table.rows.push_back({step.operations[i].name, std::to_string(groups),
                          number(figures.part_of(made.bound.together.reached, i)),
                          number(least_algbw(made, i)), names_of(made, i)});
  }
  std::string text = fmt::format("{}: {} of the joint optimum\n{}", step.name,
                                 percent(part_reached(step, made), Ratio(1)), aligned(table, 2, 1));
  text.pop_back();  // the last line's end
  return text;
}

// "0,8,16,24"; of many, the first ones.
std::string ranks_in_words(const std::vector<Rank>& group) {
  constexpr std::size_t kMost = 8;
  std::vector<std::string> ranks;
  for (const Rank r : group) {
    if (ranks.size() == kMost) {
      ranks.emplace_back("…");
      break;
    }
    ranks.push_back(std::to_string(r.value));
  }
  return fmt::format("{}", fmt::join(ranks, ","));
}

// Which file is whose: the first groups of each operation.
std::string files_in_words(const JobStep& step, const MadeStep& made) {
  constexpr std::size_t kMost = 4;
  std::string text;
  for (std::size_t i = 0; i < step.operations.size(); ++i) {
    std::size_t count = 0;
    for (const MadeGroup& group : made.groups) {
      if (group.part.operation != i || ++count > kMost) continue;
      text += fmt::format("{}  {} for ranks {}", text.empty() ? "" : "\n", group.file,
                          ranks_in_words(step.operations[i].groups[group.part.group]));
    }
    if (count > kMost) text += fmt::format("; {} more", count - kMost);
  }
  return text;
}

Json schedules_json(const MadeStep& made, std::size_t operation) {
  Json list = Json::array();
  for (const MadeGroup& group : made.groups) {
    if (group.part.operation != operation) continue;
    Json one = {{"group", group.part.group},
                {"algorithm", group.made->algorithm},
                {"algbw", exact(group.made->algbw)}};
    if (!group.file.empty()) {
      one["file"] = group.file;
      one["part"] = group.part_file;
    }
    if (group.made->threadblocks > 0) one["threadblocks"] = group.made->threadblocks;
    if (!group.made->usable_counts.empty()) one["usable_counts"] = group.made->usable_counts;
    if (!group.made->conditions.empty()) one["conditions"] = group.made->conditions;
    list.push_back(std::move(one));
  }
  return list;
}

Json report_of(const Job& job, const std::vector<MadeStep>& steps, const Fabric& fabric,
               const ReadingOptions& reading) {
  std::vector<StepBound> bounds;
  for (const MadeStep& step : steps) bounds.push_back(step.bound);
  Json json = job_to_json(job, bounds, {}, fabric, reading);
  for (std::size_t s = 0; s < steps.size(); ++s) {
    Json& operations = json["steps"][s]["operations"];
    for (std::size_t i = 0; i < operations.size(); ++i) {
      operations[i]["schedules"] = schedules_json(steps[s], i);
    }
  }
  return json;
}

std::vector<NamedText> files_of(const std::vector<MadeStep>& steps, const Json& report) {
  std::vector<NamedText> files;
  for (const MadeStep& step : steps) {
    for (const MadeGroup& group : step.groups) {
      files.push_back({group.file, group.made->text});
      files.push_back({group.part_file, to_topology_json(flat_document(group.part.topology))});
    }
  }
  files.push_back({"job.json", to_text(report)});
  return files;
}

JobDeployment deployment_of(const Job& job, const std::vector<MadeStep>& steps,
                            const Fabric& fabric) {
  JobDeployment deployment{fabric.topology, {}};
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const auto& operations = job.steps[s].operations;
    for (std::size_t i = 0; i < operations.size(); ++i) {
      DeployedOperation each{
          steps.size() > 1 ? fmt::format("{}/{}", s, i) : std::to_string(i), operations[i], {}};
      for (const MadeGroup& group : steps[s].groups) {
        if (group.part.operation != i) continue;
        each.groups.push_back({group.file, group.part.group, group.made->deployment,
                               rank_order_of(group.part.topology).per_box});
      }
      deployment.operations.push_back(std::move(each));
    }
  }
  return deployment;
}

// The schedules with their parts and the report, and with --deploy what it takes to run them.
Expected<void> write_job(const SynthArguments& arguments, const Job& job,
                         const std::vector<MadeStep>& steps, const Json& report,
                         const Fabric& fabric, const Console& console) {
  std::vector<NamedText> files = files_of(steps, report);
  const bool deploys = !arguments.deploy.empty();
  const std::string& directory = deploys ? arguments.deploy : arguments.output;
  std::string first_key;  // what run.sh may be asked for
  if (deploys) {
    const JobDeployment deployment = deployment_of(job, steps, fabric);
    auto more = job_deployment_files(deployment);
    if (!more) return more.errors();
    std::ranges::move(*more, std::back_inserter(files));
    for (const std::string& sentence : mistakable(deployment)) note(console, sentence);
    first_key = deployment.operations.front().key;
  }
  if (auto done = write_files(directory, files); !done) return done;
  const auto in_directory = [&](const char* name) {
    return bash_word((std::filesystem::path(directory) / name).string());
  };
  const std::string verify = fmt::format("forestcoll verify {} --topology {}",
                                         in_directory("job.json"), bash_word(arguments.topology));
  if (deploys) {
    note(console, fmt::format("next: put the hosts' names into {}, then bash {} {}; {}; {}",
                              in_directory("hosts"), in_directory("run.sh"), first_key,
                              in_directory("README.txt"), verify));
  } else {
    note(console, fmt::format("each group's schedule, its part of the links as a topology, and "
                              "job.json are in {}; next: {}",
                              directory, verify));
  }
  return {};
}

}  // namespace

ExitCode run_synthesis_of_job(const SynthArguments& arguments, const JobArguments& words,
                              const Console& console) {
  if (const auto done = refuse_misplaced(arguments, words); !done) {
    return fail(done.errors(), console);
  }
  const auto fabric =
      load_fabric(arguments.topology, arguments.reading, arguments.failures, console);
  if (!fabric) return fail(fabric.errors(), console);
  report_reading(*fabric, arguments.reading, console);
  note_what_does_not_count(*fabric, console);
  const std::string collective = words.groups && arguments.collective.empty()
                                     ? SynthArguments().collective
                                     : arguments.collective;
  const auto job = job_of(words, {arguments.failures, collective, arguments.root},
                          fabric->network.ranks.size(), console);
  if (!job) return fail(job.errors(), console);
  const bool writes = arguments.format != "none";
  std::vector<MadeStep> steps;
  for (std::size_t s = 0; s < job->steps.size(); ++s) {
    const JobStep& step = job->steps[s];
    auto made = divide(step, *fabric, has_relays(arguments.failures), console);
    if (!made) return fail(made.errors(), console);
    const std::string name = job->steps.size() > 1 ? fmt::format("step{}-", s) : std::string();
    GroupMaker maker(arguments, *fabric, step, name, console);
    for (MadeGroup& group : made->groups) {
      ExitCode code = ExitCode::done;
      group.made = maker.make(group.part, code);
      if (!group.made) return code;
      if (writes) name_files(group, s, *job);
    }
    note(console, step_in_words(step, *made));
    if (writes) note(console, files_in_words(step, *made));
    steps.push_back(*std::move(made));
  }
  const Json report = report_of(*job, steps, *fabric, arguments.reading);
  if (writes) {
    if (const auto done = write_job(arguments, *job, steps, report, *fabric, console); !done) {
      return fail(done.errors(), console);
    }
  }
  if (!arguments.json) return ExitCode::done;
  return finish(write_output("-", report_text(std::move(report), console)), console);
}

}  // namespace forestcoll::cli
