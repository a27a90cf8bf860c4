// `forestcoll verify`: is this schedule valid?
#include "forestcoll/verify.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
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
#include "common/job/written.hpp"
#include "common/options/help_groups.hpp"
#include "common/options/schedule_options.hpp"
#include "common/options/shared_options.hpp"
#include "common/report/flags.hpp"
#include "common/report/json_version.hpp"
#include "common/report/progress_bar.hpp"
#include "common/report/report.hpp"
#include "common/report/warnings.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/schedule.hpp"
#include "forestcoll/topology.hpp"
#include "verify/job.hpp"

namespace forestcoll::cli {
namespace {

constexpr const char* kEveryTarget = "all";
constexpr const char* kAnyTarget = "any";
constexpr std::size_t kMostGrouped = 10'000;  // findings that are read to be counted by kind
constexpr int kNameWidth = 14;                // of targets in a table

struct VerifyArguments {
  std::string schedule;
  std::string topology;
  ReadingOptions reading;  // of the topology, where it is a dump
  Failures failures;       // of the topology
  std::string target = VerifyOptions{}.target;
  bool target_given = false;
  std::optional<std::int32_t> sms;
  bool json = false;
  bool loads = false;
};

// 1,023
std::string with_commas(std::size_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
  return text;
}

// A target, and what it would do with the file.
struct Row {
  std::string target;
  Verdict verdict;
};

// What NCCL takes in place of its own choice, and no schedule.
bool is_for_nccl(const Verdict& verdict) {
  return verdict.format.starts_with("nccl");
}

// "broadcast from rank 1 over 3 ranks"
std::string promise(const Verdict& verdict) {
  if (verdict.format == "nccl-graph") return "graphs for NCCL_GRAPH_FILE";
  if (is_for_nccl(verdict)) {
    return fmt::format("{} of {} for {}", counted(static_cast<std::size_t>(verdict.chunks), "row"),
                       verdict.format, verdict.collective_name);
  }
  std::string text = verdict.collective_name;
  if (verdict.root) {
    const bool gathers = verdict.collective == Collective::reduce;
    text += fmt::format(" {} rank {}", gathers ? "to" : "from", verdict.root->value);
  }
  text += fmt::format(" over {}", counted(static_cast<std::size_t>(verdict.ranks), "rank"));
  if (verdict.groups.empty()) return text;
  return text + fmt::format(" in {} at once", counted(verdict.groups.size(), "process group"));
}

std::string bits_line(const Verdict& verdict) {
  if (!verdict.same_bits) return {};
  if (!verdict.bit_difference) return "  bits: the same on every rank\n";
  return fmt::format("  bits: may differ: rank {} sums chunk {} in another order than rank {}\n",
                     verdict.bit_difference->rank.value, verdict.bit_difference->chunk,
                     verdict.bit_difference->first.value);
}

bool is_table(const std::string& target) {
  return target == kEveryTarget || target == kAnyTarget;
}

// What errors of one kind have in common: the code, and the message but for its numbers.
std::string kind_of(const Diagnostic& finding) {
  std::string kind(finding.code ? name_of(*finding.code) : "");
  for (const char c : finding.message) {
    if (c < '0' || c > '9') kind += c;
  }
  return kind;
}

// An error of every kind, the first, and how many more there are.
std::string wrong_report(const Verdict& verdict, const std::string& file) {
  std::vector<std::pair<const Diagnostic*, std::size_t>> kinds;
  std::map<std::string, std::size_t> place_of;
  for (const Diagnostic& finding : verdict.findings) {
    const auto [at, is_new] = place_of.try_emplace(kind_of(finding), kinds.size());
    if (is_new) kinds.emplace_back(&finding, 0);
    ++kinds[at->second].second;
  }
  std::string text;
  for (const auto& [first, count] : kinds) {
    text += to_string(with_flags(*first)) + "\n";
    if (count > 1) text += fmt::format("  … and {} more like it\n", with_commas(count - 1));
  }
  text += fmt::format("{}: invalid: {}", file, counted(verdict.finding_count, "error"));
  const std::size_t left = verdict.finding_count - verdict.findings.size();
  return text + (left > 0 ? fmt::format(", {} of them not read\n", left) : "\n");
}

std::string text_report(const Verdict& verdict, const std::string& file) {
  if (!verdict.ok) return wrong_report(verdict, file);
  std::string text = fmt::format("{}: valid: {}\n", file, promise(verdict));
  if (is_for_nccl(verdict)) return text + fmt::format("  {}\n", verdict.outcome);
  if (verdict.threadblocks > 0) {
    text += fmt::format("  {}; per GPU at most {} of {}, {}\n",
                        counted(static_cast<std::size_t>(verdict.chunks), "chunk"),
                        counted(static_cast<std::size_t>(verdict.threadblocks), "threadblock"),
                        counted(static_cast<std::size_t>(verdict.steps), "step"),
                        counted(static_cast<std::size_t>(verdict.channels), "channel"));
  }
  if (verdict.threadblocks > 0 && !verdict.free_at_one_in_flight) text += deadlock_line();
  if (verdict.safe_bytes) {
    text += fmt::format(
        "  free of deadlock up to buffers of {} bytes, with the runtime's default buffers; larger "
        "ones, beyond its maxBytes, deadlock\n",
        *verdict.safe_bytes);
  }
  text += bits_line(verdict);
  if (!verdict.usable_counts.empty()) text += fmt::format("  {}\n", verdict.usable_counts);
  text += condition_lines(verdict);
  if (verdict.algbw)
    text += fmt::format("  algbw on the topology: {} GB/s\n", number(*verdict.algbw));
  if (verdict.binding_limit) {
    text += fmt::format(
        "  limited by what several links share: {}\n",
        verdict.binding_limit->empty() ? "a limit without a name" : *verdict.binding_limit);
  }
  if (verdict.busiest) {
    text += fmt::format("  busiest link: {} -> {} carries {} of the buffer at {} GB/s\n",
                        verdict.busiest->src, verdict.busiest->dst, number(verdict.busiest->load),
                        number(verdict.busiest->bandwidth));
  }
  return text;
}

Json link_json(const LinkLoad& link) {
  return {{"src", link.src},
          {"dst", link.dst},
          {"load", exact(link.load)},
          {"bandwidth", exact(link.bandwidth)}};
}

// How large the schedule is, as far as a file of its format, or what could be read of it, says.
void put_size(Json& report, const Verdict& verdict) {
  if (!verdict.collective_name.empty()) report["collective"] = verdict.collective_name;
  if (verdict.ranks > 0) report["compute_nodes"] = verdict.ranks;
  if (!verdict.groups.empty()) report["group_count"] = verdict.groups.size();
  if (verdict.chunks > 0) report[is_for_nccl(verdict) ? "row_count" : "chunks"] = verdict.chunks;
  if (verdict.threadblocks > 0) {
    report["threadblocks"] = verdict.threadblocks;
    report["channels"] = verdict.channels;
    report["threadblock_steps"] = verdict.steps;
  }
  if (!verdict.usable_counts.empty()) report["usable_counts"] = verdict.usable_counts;
}

Json json_report(const Verdict& verdict, const std::string& file, const Topology* topology,
                 bool loads = false) {
  Json findings = Json::array();
  for (const Diagnostic& finding : verdict.findings) findings.push_back(to_json(finding));
  Json report = {{"format", "forestcoll-verify"},
                 {"version", 2},
                 {"file", file},
                 {"ok", verdict.ok},
                 {"schedule", verdict.format},
                 {"outcome", verdict.outcome}};
  put_size(report, verdict);
  if (topology != nullptr) report["topology"] = topology->name;
  if (verdict.usable) report["usable"] = to_json(*verdict.usable);
  if (verdict.threadblocks > 0) report["free_at_one_in_flight"] = verdict.free_at_one_in_flight;
  if (verdict.safe_bytes) report["safe_bytes"] = *verdict.safe_bytes;
  if (!verdict.conditions.empty()) report["conditions"] = verdict.conditions;
  if (verdict.root) report["root_rank"] = verdict.root->value;
  if (verdict.same_bits) report["same_bits"] = *verdict.same_bits;
  if (verdict.bit_difference) {
    report["bit_difference"] = {{"rank", verdict.bit_difference->rank.value},
                                {"chunk", verdict.bit_difference->chunk}};
  }
  if (verdict.algbw) report["algbw"] = exact(*verdict.algbw);
  if (verdict.busiest) report["busiest_link"] = link_json(*verdict.busiest);
  if (verdict.binding_limit) report["binding_limit"] = *verdict.binding_limit;
  if (loads) {
    report["loads"] = Json::array();
    for (const LinkLoad& load : verdict.loads) report["loads"].push_back(link_json(load));
  }
  report["finding_count"] = verdict.finding_count;
  report["findings"] = std::move(findings);
  return report;
}

// Where one runtime runs the file, it knows more than where none does.
const Verdict& best(const std::vector<Row>& rows) {
  const auto right = std::ranges::find_if(rows, [](const Row& row) { return row.verdict.ok; });
  return (right == rows.end() ? rows.front() : *right).verdict;
}

// What every runtime would do with the file, and why.
std::string table(const std::vector<Row>& rows, const std::string& file) {
  std::string text = fmt::format("{}: {}\n", file, promise(best(rows)));
  for (const Row& row : rows) {
    text += fmt::format("  {:<{}}{}\n", row.target, kNameWidth, row.verdict.outcome);
    if (row.verdict.ok) {
      text += fmt::format("  {:<{}}{}\n", "", kNameWidth, row.verdict.usable_counts);
    } else {
      const Diagnostic& first = row.verdict.findings.front();
      const std::string where = first.where.empty() ? "" : first.where + ": ";
      text += fmt::format("  {:<{}}{}, such as {}{} [{}]\n", "", kNameWidth,
                          counted(row.verdict.finding_count, "error"), where,
                          with_flags(first.message), name_of(first.code));
    }
  }
  return text;
}

Json table_json(const std::vector<Row>& rows, const std::string& file, const Topology* topology) {
  Json report = {{"format", "forestcoll-verify-targets"}, {"version", 2}, {"file", file}};
  for (const Row& row : rows) {
    Json verdict = json_report(row.verdict, file, topology);
    verdict["target"] = row.target;
    report["targets"].push_back(std::move(verdict));
  }
  return report;
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

ExitCode refuse_target(const Console& console) {
  return fail(
      {make_error(Code::S04, "--target names a runtime that does not load files of this kind",
                  "leave --target out; plans have releases of mscclpp, MSCCL XML the others")},
      console);
}

VerifyOptions asked_for(const std::string& target, const VerifyArguments& options) {
  VerifyOptions asked{.target = target, .sms = options.sms.value_or(default_sms(target))};
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

ExitCode run_all(const VerifyArguments& options, const std::string& text, const Topology* topology,
                 const Console& console) {
  std::vector<Row> rows;
  const std::string file = display_name(options.schedule);
  ProgressBar bar("checking", console);
  // Without a target of its kind, a file is judged by the first of them.
  auto first = verify(text, file, topology, asked_for(VerifyOptions{}.target, options));
  if (!first) return fail(first.errors(), console);
  const std::vector<std::string> targets = targets_of(first->format);
  if (targets.empty()) return refuse_target(console);
  rows.push_back({targets.front(), *std::move(first)});
  for (std::size_t t = 1; t < targets.size(); ++t) {
    bar.update(static_cast<double>(t) / static_cast<double>(targets.size()));
    auto verdict = verify(text, file, topology, asked_for(targets[t], options));
    if (!verdict) return fail(verdict.errors(), console);
    rows.push_back({targets[t], *std::move(verdict)});
  }
  const std::string report =
      options.json ? report_text(table_json(rows, file, topology), console) : table(rows, file);
  if (const auto done = write_output("-", report); !done) return fail(done.errors(), console);
  const bool all_run = std::ranges::all_of(rows, [](const Row& row) { return row.verdict.ok; });
  if (options.target == kAnyTarget ? !best(rows).ok : !all_run) return ExitCode::answer_is_no;
  warn_of_seen_root(best(rows), console);
  warn_of_seen_simple(best(rows), topology, console);
  return ExitCode::done;
}

std::string refuse_unknown(const std::string& name) {
  if (is_table(name) || is_target(name)) return {};
  return validator_text(Code::T07, fmt::format("\"{}\" is no target; known are {}, {}, {}", name,
                                               names_of_targets(), kEveryTarget, kAnyTarget));
}

bool is_about_topology(const VerifyArguments& options) {
  const DumpOptions& dump = options.reading.dump;
  return !dump.nvlink.empty() || !dump.box.empty() || dump.pcie_p2p || !options.failures.empty();
}

ExitCode run_verify(const VerifyArguments& options, const Console& console) {
  if (const auto done =
          refuse_clashes({{"schedule file", options.schedule}, {"topology file", options.topology}},
                         {{"the report", "-"}});
      !done) {
    return fail(done.errors(), console);
  }
  std::optional<LoadedTopology> topology;
  if (options.loads && (options.topology.empty() || !options.json || is_table(options.target))) {
    return fail({make_error(Code::S04,
                            "--loads adds the links of a topology to the JSON report of one target",
                            "add --topology and --json, or leave it out")},
                console);
  }
  if (options.topology.empty() && is_about_topology(options)) {
    return fail({make_error(Code::S04,
                            "--nvlink, --box, --pcie-p2p, --drop, --derate, --ranks, --members, "
                            "--relays and --no-relays are for the topology",
                            "name it with --topology")},
                console);
  }
  const auto text = read_input(options.schedule);
  if (!text) return fail(text.errors(), console);
  if (const auto done = refuse_topology_as_schedule(
          *text, display_name(options.schedule), "forestcoll verify SCHEDULE --topology TOPOLOGY");
      !done) {
    return fail(done.errors(), console);
  }
  if (!options.topology.empty()) {
    auto loaded = load_topology(options.topology, options.reading, options.failures, console);
    if (!loaded) return fail(loaded.errors(), console);
    topology = *std::move(loaded);
    report_reading(*topology, options.reading, console);
  }
  if (is_job_report(*text)) {
    if (is_table(options.target)) {
      return fail(
          {make_error(Code::S04, fmt::format("--target {} is for one schedule", options.target),
                      "name one target, or verify the files of the groups one by one")},
          console);
    }
    return verify_job(*text,
                      {options.schedule, topology ? &topology->topology : nullptr, options.reading,
                       asked_for(options.target, options), options.json},
                      console);
  }
  if (is_table(options.target)) {
    return run_all(options, *text, topology ? &topology->topology : nullptr, console);
  }
  const std::string file = display_name(options.schedule);
  const Topology* of_links = topology ? &topology->topology : nullptr;
  const auto judge = [&] {
    const ProgressBar bar("checking", console);
    return verify(*text, file, of_links, asked_for(options.target, options));
  };
  const auto verdict = judge();
  if (!verdict) return fail(verdict.errors(), console);
  const char* loaded = find_plan_target(options.target) != nullptr ? "mscclpp-plan" : "msccl-xml";
  if (options.target_given && verdict->format != loaded) return refuse_target(console);
  if (options.sms && verdict->threadblocks == 0 && verdict->ok) {
    return fail(
        {make_error(Code::S04, "--sms is for threadblocks, and only schedules of runtimes have any",
                    "leave --sms out")},
        console);
  }
  const std::string report =
      options.json ? report_text(json_report(*verdict, file, of_links, options.loads), console)
                   : text_report(*verdict, file);
  if (const auto done = write_output("-", report); !done) return fail(done.errors(), console);
  if (!verdict->ok) return ExitCode::answer_is_no;
  warn_of_seen_root(*verdict, console);
  warn_of_seen_simple(*verdict, of_links, console);
  return ExitCode::done;
}

// A second file: most likely the topology, as `simulate` takes it.
std::string explain_second_file(const std::vector<std::string>& unknown) {
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
  add_dump_options(*command, options->reading.dump);
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
      "\n"
      "Exit codes: 0 valid, 1 invalid or not for this topology, 2 none of these: MSCCL XML, a\n"
      "plan, forest or flows JSON, rules of a tuner; or a topology file with errors, 4 cannot "
      "read\n"
      "or write, 70 internal error.");
  return {command, [options](const Console& console) { return run_verify(*options, console); },
          explain_second_file};
}

}  // namespace forestcoll::cli
