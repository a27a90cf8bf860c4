// `forestcoll verify`: is this schedule right?
#include "forestcoll/verify.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "command.hpp"
#include "fabric.hpp"
#include "io.hpp"
#include "report.hpp"
#include "target_options.hpp"

namespace forestcoll::cli {
namespace {

struct Options {
  std::string schedule;
  std::string topology;
  VerifyOptions verify;
  bool json = false;
};

std::string name_of(Collective collective) {
  return std::string(to_string(collective));
}

std::string text_report(const Verdict& verdict, const std::string& file) {
  std::string text;
  for (const Diagnostic& finding : verdict.findings) text += to_string(finding) + "\n";
  if (!verdict.ok) {
    return text + fmt::format("{}: WRONG: {}\n", file, counted(verdict.finding_count, "finding"));
  }
  text += fmt::format("{}: right: {} over {}\n", file, name_of(verdict.collective),
                      counted(static_cast<std::size_t>(verdict.ranks), "rank"));
  if (verdict.threadblocks > 0) {
    text += fmt::format("  {}; per GPU at most {} of {}, {}\n",
                        counted(static_cast<std::size_t>(verdict.chunks), "chunk"),
                        counted(static_cast<std::size_t>(verdict.threadblocks), "threadblock"),
                        counted(static_cast<std::size_t>(verdict.steps), "step"),
                        counted(static_cast<std::size_t>(verdict.channels), "channel"));
  }
  if (verdict.threadblocks > 0 && !verdict.free_at_one_in_flight) text += deadlock_line();
  if (!verdict.usable_counts.empty()) text += fmt::format("  usable: {}\n", verdict.usable_counts);
  if (verdict.algbw)
    text += fmt::format("  algbw on the topology: {} GB/s\n", number(*verdict.algbw));
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

Json json_report(const Verdict& verdict, const std::string& file) {
  Json findings = Json::array();
  for (const Diagnostic& finding : verdict.findings) findings.push_back(to_json(finding));
  Json report = {{"format", "forestcoll-verify"},
                 {"version", 1},
                 {"file", file},
                 {"ok", verdict.ok},
                 {"schedule", verdict.format},
                 {"collective", name_of(verdict.collective)},
                 {"ranks", verdict.ranks},
                 {"chunks", verdict.chunks},
                 {"threadblocks", verdict.threadblocks},
                 {"channels", verdict.channels},
                 {"steps", verdict.steps},
                 {"usable_counts", verdict.usable_counts}};
  if (verdict.threadblocks > 0) report["free_at_one_in_flight"] = verdict.free_at_one_in_flight;
  if (verdict.algbw) report["algbw"] = exact(*verdict.algbw);
  if (verdict.busiest) report["busiest"] = link_json(*verdict.busiest);
  report["findings"] = std::move(findings);
  return report;
}

ExitCode run(const Options& options, const Console& console) {
  if (options.schedule == "-" && options.topology == "-") {
    return fail({usage_error("S04", "only one of the two files can be standard input", "")},
                console);
  }
  std::optional<ParsedTopology> topology;
  if (!options.topology.empty()) {
    auto parsed = read_topology(options.topology, {});
    if (!parsed) return fail(parsed.errors(), console);
    topology = *std::move(parsed);
    print(topology->warnings, console);
  }
  const auto text = read_input(options.schedule);
  if (!text) return fail(text.errors(), console);
  const std::string file = display_name(options.schedule);
  const auto verdict =
      verify(*text, file, topology ? &topology->topology : nullptr, options.verify);
  if (!verdict) return fail(verdict.errors(), console);
  const std::string report =
      options.json ? to_text(json_report(*verdict, file)) : text_report(*verdict, file);
  if (auto error = write_output("-", report)) return fail({*std::move(error)}, console);
  return verdict->ok ? ExitCode::done : ExitCode::answer_is_no;
}

}  // namespace

Command add_verify(CLI::App& program) {
  auto options = std::make_shared<Options>();
  CLI::App* command = program.add_subcommand(
      "verify", "Check a schedule: right data on every rank, no deadlock, no race, within limits");
  command
      ->add_option("SCHEDULE", options->schedule,
                   "MSCCL XML or forest JSON (told apart by content), or - for standard input")
      ->required();
  command
      ->add_option("--topology", options->topology,
                   "Also report link loads and the rate on this topology")
      ->type_name("FILE");
  add_target_options(*command, options->verify.target, options->verify.sms);
  command->add_flag("--json", options->json,
                    "Report as JSON (format forestcoll-verify, version 1)");
  command->footer(
      "The checker has its own reader and interpreter and knows nothing of the solver, so a\n"
      "schedule by any tool can be checked. Each finding names the rank, threadblock and step.\n"
      "\n"
      "Examples:\n"
      "  forestcoll verify allreduce.xml --topology topologies/dgx-a100-x2.json\n"
      "  forestcoll synth fabric.json --format forest | forestcoll verify -\n"
      "\n"
      "Exit codes: 0 right, 1 wrong or not for this topology, 2 neither MSCCL XML nor forest "
      "JSON,\n"
      "or a topology file with errors, 4 cannot read or write, 70 a bug of ours.");
  return {command, [options](const Console& console) { return run(*options, console); }};
}

}  // namespace forestcoll::cli
