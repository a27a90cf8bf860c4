#include "common/synthesis/groups/run_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/fabric.hpp"
#include "common/files/io.hpp"
#include "common/job/figures.hpp"
#include "common/job/group_parts.hpp"
#include "common/job/report.hpp"
#include "common/options/shared_options.hpp"
#include "common/report/json_version.hpp"
#include "common/report/report.hpp"
#include "common/report/table.hpp"
#include "common/synthesis/groups/job_groups.hpp"
#include "common/synthesis/groups/joint_plan.hpp"
#include "common/synthesis/groups/relayed_groups.hpp"
#include "common/synthesis/output/deploy_job.hpp"
#include "common/synthesis/output/rank_order.hpp"
#include "common/synthesis/output/runtime_settings.hpp"
#include "common/synthesis/request/nccl_files.hpp"
#include "common/synthesis/request/refusals.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/job_parts.hpp"
#include "forestcoll/topology_text.hpp"

namespace forestcoll::cli {
namespace {

// Where the files go, which somebody else knows of jobs that are taken over.
Expected<void> refuse_output(const SynthArguments& arguments) {
  if (is_joint_plan(arguments) || arguments.format == "none") return {};
  return arguments.deploy.empty() ? refuse_directory(arguments.output, "-o")
                                  : refuse_directory(arguments.deploy, "--deploy");
}

// "1/0-allreduce-3.xml": of the second step's first operation, the fourth group.
void name_files(MadeGroup& group, std::size_t step, const Job& job) {
  const JobOperation& operation = job.steps[step].operations[group.part.operation];
  const std::string base =
      fmt::format("{}{}-{}-{}", job.steps.size() > 1 ? fmt::format("{}/", step) : "",
                  group.part.operation, to_string(operation.collective), group.part.group);
  group.file = fmt::format("{}.{}", base, group.made->extension);
  group.part_file = fmt::format("{}.topology.json", base);
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
               const SynthArguments& arguments) {
  std::vector<StepBound> bounds;
  for (const MadeStep& step : steps) bounds.push_back(step.bound);
  Json json = job_to_json(job, bounds, {}, fabric, arguments.reading);
  for (std::size_t s = 0; s < steps.size(); ++s) {
    Json& operations = json["steps"][s]["operations"];
    for (std::size_t i = 0; i < operations.size(); ++i) {
      operations[i]["schedules"] = schedules_json(steps[s], i);
      if (steps[s].plan) operations[i]["plan"] = joint_plan_json(*steps[s].plan, arguments.output);
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
  std::string to_test;
  if (deploys) {
    const JobDeployment deployment = deployment_of(job, steps, fabric);
    auto more = job_deployment_files(deployment);
    if (!more) return more.errors();
    std::ranges::move(*more, std::back_inserter(files));
    for (const std::string& sentence : mistakable(deployment)) note(console, sentence);
    to_test = operation_to_test(deployment);
  }
  if (auto done = write_files(directory, files); !done) return done;
  const auto in_directory = [&](const char* name) {
    return bash_word((std::filesystem::path(directory) / name).string());
  };
  const std::string verify =
      verify_command(arguments, (std::filesystem::path(directory) / "job.json").string());
  if (deploys) {
    const std::string run =
        to_test.empty() ? "" : fmt::format(", then bash {} {}", in_directory("run.sh"), to_test);
    note(console, fmt::format("next: put the hosts' names into {}{}; {}; {}", in_directory("hosts"),
                              run, in_directory("README.txt"), verify));
  } else {
    note(console, fmt::format("each group's schedule, its part of the links as a topology, and "
                              "job.json are in {}; next: {}",
                              directory, verify));
  }
  return {};
}

// With a file for each group where some are written.
Expected<ExitCode> make_schedules(const SynthArguments& arguments, const Job& job,
                                  std::size_t number, const Fabric& fabric, MadeStep& made,
                                  const Console& console) {
  const JobStep& step = job.steps[number];
  if (is_joint_plan(arguments)) return make_joint_plan(arguments, fabric, step, made, console);
  const std::string name = job.steps.size() > 1 ? fmt::format("step{}-", number) : std::string();
  const ExitCode code = GroupMaker(arguments, fabric, step, name, console).make_all(made.groups);
  if (code != ExitCode::done || arguments.format == "none") return code;
  for (MadeGroup& group : made.groups) name_files(group, number, job);
  return code;
}

Expected<void> write_all(const SynthArguments& arguments, const Job& job,
                         const std::vector<MadeStep>& steps, const Json& report,
                         const Fabric& fabric, const Console& console) {
  if (arguments.format == "none") return {};
  const std::optional<Compilation>& plan = steps.front().plan;
  return plan ? write_joint_plan(arguments, *plan, console)
              : write_job(arguments, job, steps, report, fabric, console);
}

// To whoever called.
Expected<ExitCode> hand_over(const SynthArguments& arguments, const Job& job,
                             const std::vector<MadeStep>& steps, Json report,
                             SynthesizedJob& taken) {
  const std::optional<Compilation>& plan = steps.front().plan;
  if (plan) {
    if (const auto done = write_output(arguments.output, plan->text); !done) return done.errors();
  } else if (arguments.format != "none") {
    taken.files = files_of(steps, report);
  }
  taken.report = std::move(report);
  taken.rates = rates_of(job, steps);
  return ExitCode::done;
}

}  // namespace

std::string verify_command(const SynthArguments& arguments, const std::string& file) {
  std::string command = fmt::format("forestcoll verify {} --topology {}", bash_word(file),
                                    bash_word(arguments.topology));
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) command += fmt::format(" {} {}", option, bash_word(value));
  };
  const ReadingOptions& reading = arguments.reading;
  add("--nvlink", reading.dump.nvlink);
  add("--box", reading.dump.box);
  if (reading.dump.pcie_p2p) command += " --pcie-p2p";
  add("--quantize", reading.quantize);
  for (const std::string& drop : arguments.failures.drop) add("--drop", drop);
  for (const std::string& derate : arguments.failures.derate) add("--derate", derate);
  add("--ranks", arguments.failures.ranks);
  if (arguments.failures.relays == Failures::Relays::none) command += " --no-relays";
  return command;
}

Expected<void> refuse_misplaced_in_job(const SynthArguments& arguments, const JobArguments& job) {
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
  if (is_joint_plan(arguments)) return refuse_with_joint_plan(arguments);
  if (!arguments.deploy.empty()) {
    const auto format = is_program(arguments.format) ? Format::msccl : Format::forest;
    return refuse_with_deploy(arguments, format);
  }
  const bool writes = arguments.format != "none";
  if (writes != (arguments.output != "-")) {
    return make_error(Code::S04,
                      writes ? "process groups at once have a schedule each, and -o names no "
                               "directory for them"
                             : "--format none writes no schedules, and -o names a directory for "
                               "some",
                      writes ? "name a directory, empty or not there, with -o, or with --format "
                               "mscclpp a file NAME.json for one plan of all groups"
                             : "leave -o out");
  }
  return {};
}

Expected<ExitCode> run_synthesis_of_job(const SynthArguments& given, const JobArguments& words,
                                        const Console& console, SynthesizedJob* taken) {
  const auto arguments = with_format(given);
  if (!arguments) return arguments.errors();
  if (const auto done = refuse_misplaced_in_job(*arguments, words); !done) return done.errors();
  if (taken == nullptr) {
    if (const auto done = refuse_output(*arguments); !done) return done.errors();
  }
  const bool relays = has_relays(given.failures);
  const auto fabric = load_fabric(given.topology, given.reading, given.failures, console);
  if (!fabric) return fabric.errors();
  report_reading(*fabric, given.reading, console);
  note_what_does_not_count(*fabric, console);
  const std::string collective =
      words.groups && given.collective.empty() ? SynthArguments().collective : given.collective;
  const auto job = job_of(words, {given.failures, collective, given.root},
                          fabric->network.ranks.size(), console);
  if (!job) return job.errors();
  if (is_joint_plan(*arguments)) {
    if (const auto done = refuse_job_of_joint_plan(*job, *arguments); !done) return done.errors();
  }
  if (const auto done = refuse_relayed_programs(*arguments, *job, *fabric); !done) {
    return done.errors();
  }
  std::vector<MadeStep> steps;
  for (std::size_t s = 0; s < job->steps.size(); ++s) {
    auto made = divide(job->steps[s], *fabric, relays, console);
    if (!made) return with_way_to_relay(made.errors(), *arguments, *job);
    auto code = make_schedules(*arguments, *job, s, *fabric, *made, console);
    if (!code || *code != ExitCode::done) return code;
    note(console, step_in_words(job->steps[s], *made));
    if (!made->groups.front().file.empty()) note(console, files_in_words(job->steps[s], *made));
    steps.push_back(*std::move(made));
  }
  Json report = report_of(*job, steps, *fabric, *arguments);
  if (taken != nullptr) return hand_over(*arguments, *job, steps, std::move(report), *taken);
  if (const auto done = write_all(*arguments, *job, steps, report, *fabric, console); !done) {
    return done.errors();
  }
  if (!given.json) return ExitCode::done;
  return finish(write_output("-", report_text(report, console)));
}

}  // namespace forestcoll::cli
