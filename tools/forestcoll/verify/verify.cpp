// `forestcoll verify`: is this schedule valid?
#include "forestcoll/verify.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command.hpp"
#include "common/fabric.hpp"
#include "common/files/detect_format.hpp"
#include "common/files/io.hpp"
#include "common/files/named_files.hpp"
#include "common/job/request.hpp"
#include "common/job/written.hpp"
#include "common/options/help_groups.hpp"
#include "common/options/json_version_option.hpp"
#include "common/options/schedule_options.hpp"
#include "common/options/shared_options.hpp"
#include "common/report/json_version.hpp"
#include "common/report/progress_bar.hpp"
#include "common/report/report.hpp"
#include "common/report/warnings.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/schedule.hpp"
#include "forestcoll/topology.hpp"
#include "verify/groups.hpp"
#include "verify/job.hpp"
#include "verify/report.hpp"

namespace forestcoll::cli {
namespace {

constexpr const char* kEveryTarget = "all";
constexpr const char* kAnyTarget = "any";
constexpr std::size_t kMostGrouped = 10'000;  // findings that are read to be counted by kind

struct VerifyArguments {
  std::string schedule;
  std::string topology;
  ReadingOptions reading;  // of the topology
  Failures failures;       // of the topology
  JobArguments groups;     // of the topology's ranks
  std::string target = VerifyOptions{}.target;
  bool target_given = false;
  std::optional<std::int32_t> sms;
  bool json = false;
  bool loads = false;
};

bool is_table(const std::string& target) {
  return target == kEveryTarget || target == kAnyTarget;
}

// A forest names its root; in a schedule it can only be seen by running it.
void warn_of_seen_root(const Verdict& verdict, const Console& console) {
  if (!verdict.root || verdict.format == "forestcoll-forest") return;
  warn_of_root(fmt::format("root {}", verdict.root->value), console);
}

// Among the GPUs of several boxes, some connection leaves a box.
void warn_of_seen_simple(const Verdict& verdict, const Topology* topology, const Console& console) {
  if (topology == nullptr || verdict.protocol != "Simple" || !verdict.root) return;
  if (has_several_boxes(*topology)) warn_of_simple(verdict.collective, console);
}

Diagnostic refuse_target() {
  return make_error(Code::S04, "--target names a runtime that does not load files of this kind",
                    "leave --target out; plans have releases of mscclpp, MSCCL XML the others");
}

VerifyOptions asked_for(const std::string& target, const VerifyArguments& options,
                        const std::optional<LoadedTopology>& on) {
  const std::int32_t usual = on ? default_sms(target, on->gpu) : default_sms(target);
  VerifyOptions asked{.target = target, .sms = options.sms.value_or(usual)};
  if (!options.json) asked.max_findings = kMostGrouped;
  return asked;
}

// The targets that load files of this kind; none where there are no such.
std::vector<std::string> targets_of(const std::string& format) {
  if (format == "msccl-xml") return verify_targets();
  std::vector<std::string> names;
  if (format != "mscclpp-plan") return names;
  for (const PlanTarget& each : plan_targets()) names.push_back(each.name);
  return names;
}

Expected<ExitCode> run_all(const VerifyArguments& options, const std::string& text,
                           const std::optional<LoadedTopology>& on, const Console& console) {
  const Topology* topology = on ? &on->topology : nullptr;
  std::vector<JudgedTarget> rows;
  const std::string file = display_name(options.schedule);
  ProgressBar bar("checking", console);
  // Without a target of its kind, a file is judged by the first of them.
  auto first = verify(text, file, topology, asked_for(VerifyOptions{}.target, options, on));
  if (!first) return first.errors();
  const std::vector<std::string> targets = targets_of(first->format);
  if (targets.empty()) return refuse_target();
  rows.push_back({targets.front(), *std::move(first)});
  for (std::size_t t = 1; t < targets.size(); ++t) {
    bar.update(static_cast<double>(t) / static_cast<double>(targets.size()));
    auto verdict = verify(text, file, topology, asked_for(targets[t], options, on));
    if (!verdict) return verdict.errors();
    rows.push_back({targets[t], *std::move(verdict)});
  }
  const std::string report = options.json ? report_text(targets_json(rows, file, topology), console)
                                          : targets_table(rows, file);
  if (const auto done = write_output("-", report); !done) return done.errors();
  const bool all_run =
      std::ranges::all_of(rows, [](const JudgedTarget& row) { return row.verdict.ok; });
  if (options.target == kAnyTarget ? !best_of(rows).ok : !all_run) return ExitCode::answer_is_no;
  warn_of_seen_root(best_of(rows), console);
  warn_of_seen_simple(best_of(rows), topology, console);
  return ExitCode::done;
}

std::string refuse_unknown(const std::string& name) {
  if (is_table(name) || is_target(name)) return {};
  return validator_text(
      Code::T07, fmt::format("\"{}\" is no target; known are {}, {}, {}{}", name,
                             names_of_targets(), kEveryTarget, kAnyTarget, nearest_target(name)));
}

// A file for every group, and what goes with it.
Expected<void> refuse_misplaced_groups(const VerifyArguments& options, bool is_job) {
  if (!options.groups.given()) return {};
  if (is_job) {
    return make_error(Code::S04, "--groups: job.json names its groups", "leave --groups out");
  }
  const char* other = first_given({{"--loads", options.loads},
                                   {"--target all", options.target == kEveryTarget},
                                   {"--target any", options.target == kAnyTarget}});
  if (other == nullptr) return {};
  return make_error(Code::S04, fmt::format("{} is for one group, not for --groups", other),
                    "leave one of the two out, or name a group with --members");
}

bool is_about_topology(const VerifyArguments& options) {
  const ReadingOptions& reading = options.reading;
  const DumpOptions& dump = reading.dump;
  return !dump.nvlink.empty() || !dump.box.empty() || dump.pcie_p2p || reading.strict ||
         !reading.quantize.empty() || !options.failures.empty() || options.groups.given();
}

Expected<ExitCode> run_verify(const VerifyArguments& options, const Console& console) {
  if (const auto done =
          refuse_clashes({{"schedule file", options.schedule}, {"topology file", options.topology}},
                         {{"the report", "-"}});
      !done) {
    return done.errors();
  }
  std::optional<LoadedTopology> topology;
  if (options.loads && (options.topology.empty() || !options.json || is_table(options.target))) {
    return make_error(Code::S04,
                      "--loads adds the links of a topology to the JSON report of one target",
                      "add --topology and --json, or leave it out");
  }
  const std::string none;
  if (const auto done =
          refuse_misplaced_groups(options.groups, {options.failures, none, none, false});
      !done) {
    return done.errors();
  }
  if (options.topology.empty() && is_about_topology(options)) {
    return make_error(
        Code::S04,
        "--nvlink, --box, --pcie-p2p, --strict, --quantize, --drop, --derate, --ranks, "
        "--members, --relays, --no-relays, --groups and --mesh are for the topology",
        "name it with --topology");
  }
  const auto text = read_input(options.schedule);
  if (!text) return text.errors();
  if (const auto done = refuse_topology_as_schedule(
          *text, display_name(options.schedule), "forestcoll verify SCHEDULE --topology TOPOLOGY");
      !done) {
    return done.errors();
  }
  if (!options.topology.empty()) {
    auto loaded = load_topology(options.topology, options.reading, options.failures, console);
    if (!loaded) return loaded.errors();
    topology = *std::move(loaded);
    report_reading(*topology, options.reading, console);
  }
  const bool is_job = is_job_report(*text);
  if (const auto done = refuse_misplaced_groups(options, is_job); !done) return done.errors();
  if (options.groups.given()) {
    return verify_in_groups(
        *text,
        {options.schedule, options.groups, topology->topology, has_relays(options.failures),
         asked_for(options.target, options, topology), options.json},
        console);
  }
  if (is_job) {
    if (is_table(options.target)) {
      return make_error(Code::S04, fmt::format("--target {} is for one schedule", options.target),
                        "name one target, or verify the files of the groups one by one");
    }
    return verify_job(*text,
                      {options.schedule, topology ? &topology->topology : nullptr, options.reading,
                       asked_for(options.target, options, topology), options.json},
                      console);
  }
  if (is_table(options.target)) {
    return run_all(options, *text, topology, console);
  }
  const std::string file = display_name(options.schedule);
  const Topology* of_links = topology ? &topology->topology : nullptr;
  const auto judge = [&] {
    const ProgressBar bar("checking", console);
    return verify(*text, file, of_links, asked_for(options.target, options, topology));
  };
  const auto verdict = judge();
  if (!verdict) return verdict.errors();
  const char* loaded = find_plan_target(options.target) != nullptr ? "mscclpp-plan" : "msccl-xml";
  if (options.target_given && verdict->format != loaded) return refuse_target();
  if (options.sms && verdict->threadblocks == 0 && verdict->ok) {
    return make_error(Code::S04,
                      "--sms is for threadblocks, and only schedules of runtimes have any",
                      "leave --sms out");
  }
  const std::string report =
      options.json ? report_text(verdict_json(*verdict, file, of_links, options.loads), console)
                   : verdict_in_words(*verdict, file);
  if (const auto done = write_output("-", report); !done) return done.errors();
  if (!verdict->ok) return ExitCode::answer_is_no;
  warn_of_seen_root(*verdict, console);
  warn_of_seen_simple(*verdict, of_links, console);
  return ExitCode::done;
}

// A second file is most likely the topology, as `simulate` takes it.
std::string explain_unknown(const std::vector<std::string>& unknown) {
  std::string operations =
      explain_operations(unknown, "forestcoll verify DIR/job.json --topology TOPOLOGY");
  if (!operations.empty()) return operations;
  if (unknown.front().starts_with('-')) return {};
  return fmt::format("verify takes one schedule; a topology is given as --topology {}",
                     unknown.front());
}

}  // namespace

Command add_verify(CLI::App& program) {
  auto options = std::make_shared<VerifyArguments>();
  CLI::App* command = program.add_subcommand(
      "verify",
      "Check a schedule: correct data on every rank, no deadlock, no race, within limits");
  add_schedule_argument(*command, options->schedule);
  add_file_option(*command, "--topology", options->topology,
                  "Also report link loads and the rate on this topology");
  command
      ->add_option(
          "--target", options->target,
          fmt::format(
              "The runtime whose rules apply: {}; the last two load plans of MSCCL++ ({} is the\n"
              "newer one, the default for plans), the others MSCCL XML. {} and {} print a table\n"
              "with the outcome in every runtime. The exit code is then 1 unless all run the\n"
              "file, or with the latter unless one does",
              names_of_targets(), kPlanTarget, kEveryTarget, kAnyTarget))
      ->check(CLI::Validator(refuse_unknown, "NAME"))
      ->each([options](const std::string&) { options->target_given = true; })
      ->capture_default_str();
  add_sms_option(*command, options->sms);
  add_failure_options(*command, options->failures);
  add_groups_options(*command, options->groups);
  add_reading_options(*command, options->reading);
  const OptionGroup general(*command);
  general.flag("--json", options->json, "Report as JSON (format forestcoll-verify, version 2)");
  add_json_version_option(*command);
  general.flag("--loads", options->loads,
               "With --topology and --json: also the load of every link that has one");
  add_jobs_option(*command);
  group_options(*command, {"--topology", "--target", "--json"});
  command->footer(
      "The checker has its own reader and interpreter and knows nothing of the solver, so a\n"
      "schedule by any tool can be checked. Each error names the rank, threadblock and step.\n"
      "\n"
      "Examples:\n"
      "  forestcoll verify allreduce.xml --target any\n"
      "  forestcoll verify allreduce.xml --topology topologies/dgx-a100-x2.json\n"
      "  forestcoll synth fabric.json --format forest | forestcoll verify -\n"
      "  forestcoll verify groups/job.json --topology fabric.json\n"
      "  forestcoll verify pairs.xml --topology fabric.json --groups 'MOD 8'\n"
      "\n"
      "Exit codes: 0 valid, 1 invalid or not for this topology, 2 none of these: MSCCL XML, a\n"
      "plan, forest or flows JSON, rules of a tuner; or a topology file with errors, 4 cannot "
      "read\n"
      "or write, 70 internal error.");
  return {command, [options](const Console& console) { return run_verify(*options, console); },
          explain_unknown};
}

}  // namespace forestcoll::cli
