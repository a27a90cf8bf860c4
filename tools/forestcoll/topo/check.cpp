// `forestcoll topo check`: every finding about every file.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "command.hpp"
#include "common/fabric.hpp"
#include "common/files/io.hpp"
#include "common/files/named_files.hpp"
#include "common/options/json_version_option.hpp"
#include "common/options/shared_options.hpp"
#include "common/report/json_version.hpp"
#include "common/report/progress_bar.hpp"
#include "common/report/report.hpp"

namespace forestcoll::cli {
namespace {

struct CheckArguments {
  std::vector<std::string> files;
  bool json = false;
  ReadingOptions reading;
  Failures failures;
};

struct Checked {
  std::string file;
  Diagnostics findings;
  std::vector<std::string> notes = {};            ///< what was inferred
  std::vector<std::string> changes;               ///< what --drop, --derate and --ranks did
  std::size_t gpus = 0, switches = 0, links = 0;  ///< in use, of a file without errors
};

bool has_errors(const Diagnostics& findings) {
  return std::ranges::find(findings, Severity::error, &Diagnostic::severity) != findings.end();
}

// Errors about the fabric as a whole name its file.
void add(const Diagnostics& errors, Checked& checked) {
  for (Diagnostic error : errors) {
    if (error.file.empty()) error.file = checked.file;
    checked.findings.push_back(std::move(error));
  }
}

void count_parts(const Topology& topology, Checked& checked) {
  for (const TopologyNode& node : topology.nodes) {
    if (!node.enabled || node.type == NodeType::relay) continue;
    ++(node.type == NodeType::compute ? checked.gpus : checked.switches);
  }
  for (const TopologyLink& link : topology.links) {
    const bool ends = topology.nodes[link.src].enabled && topology.nodes[link.dst].enabled;
    checked.links += link.enabled && ends ? 1 : 0;
  }
}

Checked check(const std::string& path, const Reading& reading, const Failures& failures,
              const Console& console) {
  Checked checked{.file = display_name(path), .findings = {}, .changes = {}};
  auto parsed = read_topology(path, reading, console);
  if (!parsed) {
    checked.findings = parsed.errors();
    return checked;
  }
  checked.findings = std::move(parsed->warnings);
  checked.notes = std::move(parsed->notes);
  const auto left = degrade(parsed->topology, failures);
  if (!left) {
    add(left.errors(), checked);
    return checked;
  }
  add(left->warnings, checked);
  checked.changes = left->changes;
  const auto network = to_digraph(left->topology);
  const auto done = network ? refuse_without_owner(*network, Collective::allgather)
                            : Expected<void>(network.errors());
  if (!done) add(done.errors(), checked);
  count_parts(left->topology, checked);
  return checked;
}

std::string problems(const Diagnostics& findings) {
  const auto errors = static_cast<std::size_t>(
      std::ranges::count(findings, Severity::error, &Diagnostic::severity));
  const std::size_t warnings = findings.size() - errors;
  return counted(errors, "error") + (warnings == 0 ? "" : ", " + counted(warnings, "warning"));
}

std::string summary(const Checked& checked) {
  if (has_errors(checked.findings)) {
    return fmt::format("{}: {}\n", checked.file, problems(checked.findings));
  }
  const std::string warnings =
      checked.findings.empty() ? "" : ", " + counted(checked.findings.size(), "warning");
  return fmt::format("{}: ok: {}, {}, {}{}\n", checked.file, counted(checked.gpus, "GPU"),
                     counted(checked.switches, "switch node"), counted(checked.links, "link"),
                     warnings);
}

Json json_report(const std::vector<Checked>& all) {
  Json files = Json::array();
  for (const Checked& checked : all) {
    Json findings = Json::array();
    for (const Diagnostic& finding : checked.findings) findings.push_back(to_json(finding));
    files.push_back({{"file", checked.file},
                     {"ok", !has_errors(checked.findings)},
                     {"findings", std::move(findings)},
                     {"notes", checked.notes}});
  }
  return {{"format", "forestcoll-topo-check"}, {"version", 1}, {"files", std::move(files)}};
}

Expected<ExitCode> run_check(const CheckArguments& options, const Console& console) {
  std::vector<NamedFile> inputs;
  for (const std::string& path : options.files) inputs.push_back({"topology file", path});
  inputs.push_back({"--box file", options.reading.dump.box});
  if (const auto done = refuse_clashes(inputs, {{"the report", "-"}}); !done) return done.errors();
  const auto reading = reading_of(options.reading);
  if (!reading) return reading.errors();
  // One bar for all files: none of their stages draws its own.
  const auto under_a_bar = [&](const std::string& path, std::size_t done) {
    ProgressBar bar("checking", console);
    bar.update(static_cast<double>(done) / static_cast<double>(options.files.size()));
    Console silent = console;
    silent.terminal = silent.log = false;
    return check(path, *reading, options.failures, silent);
  };
  std::vector<Checked> all;
  Diagnostics errors;
  std::string text;
  for (const std::string& path : options.files) {
    all.push_back(under_a_bar(path, all.size()));
    print(all.back().findings, console);
    for (const std::string& inferred : all.back().notes) note(console, inferred);
    for (const std::string& change : all.back().changes) note(console, change);
    if (has_errors(all.back().findings)) {
      errors.insert(errors.end(), all.back().findings.begin(), all.back().findings.end());
    }
    text += summary(all.back());
  }
  const std::string report = options.json ? report_text(json_report(all), console) : text;
  if (const auto done = write_output("-", report); !done) return done.errors();
  return errors.empty() ? ExitCode::done : exit_code(errors);
}

}  // namespace

Command add_topo_check(CLI::App& program) {
  auto options = std::make_shared<CheckArguments>();
  CLI::App* command =
      topo_group(program).add_subcommand("check", "Check topology files: all errors and warnings");
  command->add_option("FILE", options->files, "Topology files; - is standard input")->required();
  const OptionGroup general(*command);
  general.flag("--json", options->json, "Report as JSON (format forestcoll-topo-check, version 1)");
  add_json_version_option(*command);
  add_jobs_option(*command);
  add_failure_options(*command, options->failures);
  add_reading_options(*command, options->reading);
  command->footer(
      "Errors and warnings go to standard error, one line per file to standard output.\n"
      "\n"
      "Examples:\n"
      "  forestcoll topo check topologies/*.json\n"
      "  forestcoll topo check --strict --json fabric.json\n"
      "  forestcoll topo check fabric.json --drop box3    # is the rest still connected?\n"
      "\n"
      "Exit codes: 0 no errors (there may be warnings), 2 errors (with --strict also warnings "
      "about\n"
      "the topology), 3 too large for exact arithmetic, 4 cannot read or write, 70 internal "
      "error.");
  return {command, [options](const Console& console) { return run_check(*options, console); }};
}

}  // namespace forestcoll::cli
