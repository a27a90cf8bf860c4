// `forestcoll topo import`: a topology file from a dump of a machine, or from another tool's file.
#include "forestcoll/import.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "command.hpp"
#include "common/fabric.hpp"
#include "common/files/detect_format.hpp"
#include "common/files/io.hpp"
#include "common/files/named_files.hpp"
#include "common/options/did_you_mean.hpp"
#include "common/options/help_groups.hpp"
#include "common/options/json_version_option.hpp"
#include "common/options/shared_options.hpp"
#include "common/report/flags.hpp"
#include "common/report/json_version.hpp"
#include "common/report/progress_bar.hpp"
#include "common/report/report.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/topology_text.hpp"
#include "topo/import_health.hpp"

namespace forestcoll::cli {
namespace {

struct ImportArguments {
  std::string source, file;
  std::string out = "-";
  bool json = false;
  std::string bandwidths = "by-source";  ///< nominal, nccl, or a file
  std::string nic_bandwidth, uplink_bandwidth;
  std::string nvswitch = "merge";
  std::vector<std::string> health;  ///< "FILE" or "GPUS=FILE"
  ImportOptions import;
  ReadingOptions reading;
};

// A topology, whatever it was made of.
struct ToWrite {
  std::string_view source;              ///< "nccl"; "topology": a topology file
  std::optional<CheckedImport> import;  ///< nothing of a topology file
  ParsedTopology parsed;
  std::string text;  ///< the topology file
  std::vector<HealthReport> health = {};
};

Expected<Source> chosen_source(const std::string& name, std::string_view text,
                               const std::string& file) {
  const auto source = name == "auto" ? detect_source(text) : find_source(name);
  if (source) return *source;
  if (const auto done = check_text(text, file); !done) return done.errors();
  return make_error(Code::I01, "this is none of the formats that can be imported",
                    "Name the format, if it is one: `forestcoll topo import --help` "
                    "lists them. A topology file of ours needs no import.",
                    {.file = file});
}

Expected<std::optional<Ratio>> positive(const std::string& option, const std::string& text) {
  if (text.empty()) return std::optional<Ratio>();
  const auto value = parse_bandwidth(text);
  if (value) return value;
  return make_error(
      Code::I08, fmt::format("{}: expected a positive number of GB/s, found \"{}\"", option, text),
      "Write a number such as 25, or with its unit \"200 Gb/s\".");
}

// Whether --bandwidths names a file, not one of the tables.
bool is_file(const std::string& bandwidths) {
  return bandwidths != "nominal" && bandwidths != "nccl" && bandwidths != "by-source";
}

Expected<void> set_bandwidths(const std::string& choice, ImportOptions& options) {
  if (choice == "nominal") options.constants = LinkConstants::nominal;
  if (choice == "nccl") options.constants = LinkConstants::nccl;
  if (!is_file(choice)) return {};
  const auto text = read_input(choice);
  if (!text) return text.errors();
  auto bandwidths = read_bandwidths(*text, display_name(choice));
  if (!bandwidths) return bandwidths.errors();
  options.bandwidths = *std::move(bandwidths);
  return {};
}

// What the command line says, with the files that it names read.
Expected<Reading> read_options(const ImportArguments& options) {
  const auto reading = reading_of(options.reading);
  if (!reading) return reading.errors();
  ImportOptions import = options.import;
  import.nvswitch = reading->import.nvswitch;
  import.pcie_p2p = reading->import.pcie_p2p;
  import.box_text = reading->import.box_text;
  import.box_file = reading->import.box_file;
  if (const auto done = set_bandwidths(options.bandwidths, import); !done) return done.errors();
  const auto nic = positive("--nic-bandwidth", options.nic_bandwidth);
  const auto uplink = positive("--uplink-bandwidth", options.uplink_bandwidth);
  if (!nic) return nic.errors();
  if (!uplink) return uplink.errors();
  import.nic_bandwidth = *nic;
  import.uplink_bandwidth = *uplink;
  import.split_nvswitch = options.nvswitch == "split";
  return Reading{.parser = reading->parser, .import = std::move(import)};
}

void tell(const CheckedImport& result, const Console& console) {
  const ImportReport& report = result.imported.report;
  if (!report.understood.empty()) {
    note(console, with_flags(fmt::format("understood: {}", fmt::join(report.understood, ", "))));
  }
  for (const Diagnostic& finding : result.findings) note(console, finding.message);
}

Json health_json(const HealthReport& report) {
  Json doubts = Json::array();
  for (const Diagnostic& each : report.warnings) doubts.push_back(to_json(each));
  return {{"source", report.source},
          {"found", report.found},
          {"options", as_options(report.failures)},
          {"doubts", std::move(doubts)}};
}

Json json_report(const ToWrite& result) {
  Json findings = Json::array(), understood = Json::array();
  const ImportReport none, &report = result.import ? result.import->imported.report : none;
  if (result.import) {
    for (const Diagnostic& warning : result.import->imported.warnings) {
      findings.push_back(to_json(warning));
    }
  }
  for (const std::string& each : report.understood) understood.push_back(with_flags(each));
  for (const Diagnostic& warning : result.parsed.warnings) findings.push_back(to_json(warning));
  // Of the findings of the import; the rest has its own lists.
  if (!report.joined_by_pcie.empty()) findings.push_back(to_json(result.import->findings.front()));
  const Topology& topology = result.parsed.topology;
  Json json = {{"format", "forestcoll-import"},
               {"version", 2},
               {"topology", topology.name.empty() ? Json() : Json(topology.name)},
               {"source", result.source},
               {"compute_nodes", topology.ranks.size()},
               {"node_count", topology.nodes.size()},
               {"link_count", topology.links.size()},
               {"understood", std::move(understood)},
               {"left_out", report.left_out},
               {"guesses", report.guesses},
               {"findings", std::move(findings)}};
  for (const HealthReport& each : result.health) json["health"].push_back(health_json(each));
  return json;
}

// The file as a topology, before its health. A topology file of ours is one where health is asked
// for; else it needs no import.
Expected<ToWrite> read_topology_to_write(const ImportArguments& options, const Reading& reading,
                                         const Console& console) {
  const auto text = read_input(options.file);
  if (!text) return text.errors();
  const std::string file = display_name(options.file);
  const bool is_ours = options.source == "auto" && !options.health.empty() && !detect_source(*text);
  if (is_ours) {
    auto parsed =
        at_work("reading the topology", console, [&] { return parse_any(*text, file, reading); });
    if (!parsed) return parsed.errors();
    return ToWrite{"topology", std::nullopt, *std::move(parsed), *text};
  }
  const auto source = chosen_source(options.source, *text, file);
  if (!source) return source.errors();
  auto result =
      at_work("importing", console, [&] { return import_checked(*source, *text, file, reading); });
  if (!result) return result.errors();
  ParsedTopology parsed = result->parsed;
  std::string written = result->text;
  return ToWrite{info_of(*source).name, *std::move(result), std::move(parsed), std::move(written)};
}

Expected<void> take_health(const std::vector<std::string>& items, ToWrite& result) {
  if (items.empty()) return {};
  auto left = with_health(result.parsed.topology, metadata_of(result.text), items);
  if (!left) return left.errors();
  result.parsed.topology = std::move(left->left.topology);
  for (Diagnostic& each : left->left.warnings) result.parsed.warnings.push_back(std::move(each));
  result.text = std::move(left->text);
  result.health = std::move(left->reports);
  return {};
}

void tell_health(const ToWrite& result, bool as_json, const Console& console) {
  for (const HealthReport& report : result.health) {
    print(report.warnings, console);
    if (as_json) continue;
    if (report.found.empty()) {
      note(console, report.source +
                        (report.warnings.empty() ? ": nothing is down" : ": nothing is dropped"));
    }
    for (const std::string& found : report.found) {
      note(console, fmt::format("{}: {}", report.source, found));
    }
    const auto all = as_options(report.failures);
    if (!all.empty()) note(console, fmt::format("as options: {}", fmt::join(all, " ")));
  }
}

std::vector<NamedFile> inputs_of(const ImportArguments& options) {
  std::vector<NamedFile> inputs = health_files(options.health);
  inputs.push_back({"imported file", options.file});
  inputs.push_back({"--box file", options.reading.dump.box});
  inputs.push_back({"--bandwidths file", is_file(options.bandwidths) ? options.bandwidths : ""});
  return inputs;
}

Expected<ExitCode> run_import(const ImportArguments& options, const Console& console) {
  if (options.json && options.out == "-") {
    return make_error(Code::I08, "--json: standard output is taken by the topology file",
                      "Give the file a name: -o topology.json.");
  }
  if (const auto done = refuse_clashes(inputs_of(options),
                                       {{"-o", options.out}, {"--json", options.json ? "-" : ""}});
      !done) {
    return done.errors();
  }
  if (!options.reading.quantize.empty()) {
    return make_error(Code::I08, "--quantize: an imported file keeps every bandwidth as it is",
                      "Round where the file is used: `forestcoll bound --quantize`, or "
                      "`forestcoll topo convert --quantize` of what is imported.");
  }
  const auto reading = read_options(options);
  if (!reading) return reading.errors();
  auto result = read_topology_to_write(options, *reading, console);
  if (!result) return result.errors();
  if (const auto done = take_health(options.health, *result); !done) return done.errors();

  if (result->import && !options.json) tell(*result->import, console);
  if (result->import) print(result->import->imported.warnings, console);
  report_parsed(result->parsed, console);
  tell_health(*result, options.json, console);
  if (const auto done = write_output(options.out, result->text); !done) return done.errors();
  if (!options.json) return ExitCode::done;
  return finish(write_output("-", report_text(json_report(*result), console)));
}

std::string footer() {
  std::string text = "Sources:\n";
  for (const SourceInfo& info : import_sources()) {
    text += fmt::format("  {:<14} {}\n", info.name, with_flags(info.description));
  }
  return text +
         "\n"
         "What was understood, left out and guessed goes to standard error; correct the file\n"
         "where a guess is wrong. `bound`, `synth` and the others read these formats as they are.\n"
         "\n"
         "Examples:\n"
         "  forestcoll topo import auto nccl-topo.xml -o box.json\n"
         "  forestcoll topo import nccl nccl-topo.xml --boxes 4 --fabric rail -o cluster.json\n"
         "  nvidia-smi topo -m | forestcoll topo import nvidia-smi - --gpu h100 -o box.json\n"
         "  forestcoll topo import auto ndv4-topo.xml --nvlink nvswitch=300 -o box.json\n"
         "  forestcoll topo import auto cluster.json --health box3=nvlink.txt -o today.json\n"
         "  forestcoll topo import ibnetdiscover fabric.txt --box nccl-topo.xml -o cluster.json\n"
         "\n"
         "Exit codes: 0 done, 2 a file that cannot be made a topology, or usage, 4 cannot read or\n"
         "write, 70 internal error.";
}

std::vector<std::string> source_names() {
  std::vector<std::string> names = {"auto"};
  for (const SourceInfo& info : import_sources()) names.emplace_back(info.name);
  return names;
}

// What is wrong with a source, for CLI11: a file in its place has none.
std::string refuse_source(const std::string& text) {
  const std::vector<std::string> names = source_names();
  if (std::ranges::find(names, text) != names.end()) return {};
  std::error_code error;
  if (text.find('.') != std::string::npos || std::filesystem::exists(text, error)) {
    return validator_text(Code::S05, fmt::format("the format is missing before \"{}\"; auto "
                                                 "recognises it: topo import auto {}",
                                                 text, text));
  }
  return validator_text(
      Code::S03, fmt::format("expected one of {}, found \"{}\"{}", fmt::join(names, ", "), text,
                             did_you_mean(text, names)));
}

void add_machine_options(CLI::App& command, ImportArguments& options) {
  const OptionGroup group(command, "Machines");
  group.option("--bandwidths", options.bandwidths, "nominal|nccl|FILE",
               "Bandwidths of links that the file does not give; nominal: the vendor's. nccl:\n"
               "what NCCL plans with, the default for its own files. FILE: CSV of kind,GB/s of\n"
               "one link (nvlink, xgmi, c2c, pcie, cpu, nic, link), which overrules all others,\n"
               "or of host-bridge: what all devices behind one share up to the CPU");
  group.option("--gpu", options.import.gpu, "MODEL", "GPU model for nvidia-smi: a100, h100, …");
  group.option("--nic-bandwidth", options.nic_bandwidth, "GB/s",
               "Bandwidth of each NIC whose speed is missing or wrong in the file");
  group
      .place(command.add_option(
          "--nvswitch", options.nvswitch,
          "NVSwitches of a machine; merge: one node for all. split: one node for each"))
      ->check(one_of({"merge", "split"}))
      ->capture_default_str();
  group.option("--host", options.import.host, "NAME", "Name of the boxes; default box0, box1, …");
}

void add_cluster_options(CLI::App& command, ImportArguments& options) {
  const OptionGroup group(command, "Clusters");
  group.option("--boxes", options.import.boxes, "N", "Number of machines like that of the file")
      ->check(number_from(1, 100'000))
      ->capture_default_str();
  group.option("--fabric", options.import.fabric, "NAME",
               "Network that joins their NICs; rail (a switch per NIC number), single (one\n"
               "switch), odd-even (two), or fat-tree:BOXES[:RATIO] (leaves of BOXES boxes below\n"
               "a spine, oversubscribed RATIO to 1)");
  group.option("--uplinks", options.import.uplinks, "N", "Slurm: links between two switches")
      ->check(number_from(1, 4096))
      ->capture_default_str();
  group.option("--uplink-bandwidth", options.uplink_bandwidth, "GB/s",
               "Slurm: bandwidth of one such link");
}

}  // namespace

Command add_topo_import(CLI::App& program) {
  auto options = std::make_shared<ImportArguments>();
  CLI::App* command = topo_group(program).add_subcommand(
      "import", "Make a topology file from a machine's dump or another tool's file");
  command
      ->add_option("SOURCE", options->source, "Format of the file, see below; auto: by its content")
      ->required()
      ->check(CLI::Validator(refuse_source, one_of(source_names()).get_description()));
  command->add_option("FILE", options->file, "File to read, or - for standard input")->required();
  const OptionGroup general(*command);
  general.option("-o,--output", options->out, "FILE", "File to write, or - for standard output")
      ->capture_default_str();
  general.flag("--json", options->json,
               "Print the report as JSON (format forestcoll-import, version 2)");
  add_json_version_option(*command);
  general.option("--compute", options->import.compute, "PATTERN",
                 "Graphs: the ids of the GPUs, where nodes have no type; ibnetdiscover and Slurm:\n"
                 "the hosts that are machines of --box. * and ? as in a shell");
  general.list("--health", options->health, "[GPUS=]FILE",
               "Dump of what is down today: nvidia-smi nvlink -s or -e, nvidia-smi -q, dcgmi\n"
               "nvlink -s, NCCL's log, rocm-smi, iblinkinfo, or ibdiagnet's .db_csv or .lst;\n"
               "several times. GPUS, a box or ids, are the GPUs that the dump numbers from 0.\n"
               "FILE above may then be a topology file");
  add_jobs_option(*command);
  add_machine_options(*command, *options);
  add_cluster_options(*command, *options);
  add_reading_options(*command, options->reading);
  group_options(*command, {"--output", "--boxes", "--fabric", "--health", "--json"});
  command->footer(footer());
  return {command, [options](const Console& console) { return run_import(*options, console); }};
}

}  // namespace forestcoll::cli
