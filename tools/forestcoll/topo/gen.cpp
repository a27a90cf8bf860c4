// `forestcoll topo gen`: a topology file of a named fabric.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "command.hpp"
#include "common/files/io.hpp"
#include "common/options/json_version_option.hpp"
#include "common/options/shared_options.hpp"
#include "common/report/json_version.hpp"
#include "common/report/progress_bar.hpp"
#include "common/report/report.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/generate.hpp"
#include "forestcoll/nearest.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::cli {
namespace {

struct GenArguments {
  std::string name;
  bool list = false;
  bool json = false;
  std::string out = "-";
  std::map<std::string, std::string> values;  ///< what the command line gave, by parameter
};

std::string list_in_text() {
  std::string text;
  for (const Generator& generator : generators()) {
    text += fmt::format("{:<12} {}\n", generator.name, generator.summary);
    for (const GeneratorParameter& parameter : generator.parameters) {
      text += fmt::format("    --{:<18}{} (default: {})\n", parameter.name, parameter.meaning,
                          parameter.standard);
    }
  }
  text += "\nDirect-connect topologies (no switches), in place of a name, with --bandwidth:\n";
  for (const Construction& graph : constructions()) {
    const std::string usage = graph.arguments.empty() ? "" : fmt::format("({})", graph.arguments);
    text += fmt::format("{:<28} {}\n", std::string(graph.name) + usage, graph.summary);
  }
  text +=
      "and of these, or of what they make: L(g) or L3(g), the line digraph, once or three times;\n"
      "g*3, every node three times over; g^2, the Cartesian power; g x h, the Cartesian product\n";
  return text;
}

Json list_in_json() {
  Json list = Json::array();
  for (const Generator& generator : generators()) {
    Json parameters = Json::array();
    for (const GeneratorParameter& parameter : generator.parameters) {
      parameters.push_back({{"name", parameter.name},
                            {"meaning", parameter.meaning},
                            {"standard", parameter.standard}});
    }
    list.push_back({{"name", generator.name},
                    {"summary", generator.summary},
                    {"parameters", std::move(parameters)}});
  }
  return {{"format", "forestcoll-generators"}, {"version", 1}, {"generators", std::move(list)}};
}

Expected<ExitCode> print_list(const GenArguments& options, const Console& console) {
  const std::string text = options.json ? report_text(list_in_json(), console) : list_in_text();
  return finish(write_output("-", text));
}

// There is no --max-nodes here: what is larger than a file may be is asked for smaller.
constexpr std::array<Remedy, 1> kRemedies = {{{Code::E15, "Ask for a smaller fabric."}}};

// What says nothing beside --list, or without it.
Expected<void> refuse_combination(const GenArguments& options) {
  if (!options.list) {
    if (!options.json) return {};
    return make_error(Code::S04, "--json is for --list: a topology file is JSON already",
                      "leave --json out, or add --list");
  }
  std::string beside;
  if (!options.name.empty()) beside = fmt::format("\"{}\"", options.name);
  if (!options.values.empty()) beside = "--" + options.values.begin()->first;
  if (options.out != "-") beside = "-o";
  if (beside.empty()) return {};
  return make_error(Code::S04,
                    fmt::format("--list lists all fabrics, and {} says nothing to it", beside),
                    fmt::format("leave {} or --list out", beside));
}

// A topology file, and what it says.
struct Made {
  std::string text;
  ParsedTopology parsed;
};

// A machine of the user's own is a file; no generator's name has a point.
bool is_machine_file(const std::string& name) {
  return name.ends_with(".json");
}

Expected<TopologyDocument> document_of(const GenArguments& options, const Console& console) {
  if (!is_machine_file(options.name)) return generate(options.name, options.values);
  const auto text = read_input(options.name);
  if (!text) return text.errors();
  auto machine = generate_machine(*text, options.name, options.values);
  if (!machine) return machine.errors();
  print(machine->warnings, console);
  return std::move(machine->document);
}

Expected<Made> make(const GenArguments& options, const Console& console) {
  const ProgressBar bar("generating", console);
  const auto document = document_of(options, console);
  if (!document) return document.errors();
  std::string text = to_topology_json(*document);
  // What cannot be read again must not be written.
  auto parsed = parse_topology(text, options.name);
  if (!parsed) return with_remedies(parsed.errors(), kRemedies);
  return Made{std::move(text), *std::move(parsed)};
}

Expected<ExitCode> run_gen(const GenArguments& options, const Console& console) {
  if (const auto done = refuse_combination(options); !done) return done.errors();
  if (options.list) return print_list(options, console);
  if (options.name.empty()) {
    return make_error(Code::G01, "the name of a fabric is missing",
                      "`forestcoll topo gen --list` names them all");
  }
  const auto made = make(options, console);
  if (!made) return made.errors();
  const auto& [text, parsed] = *made;
  if (const auto done = write_output(options.out, text); !done) return done.errors();
  const Topology& topology = parsed.topology;
  note(console, fmt::format("{}: {}, {}, {}", topology.name, counted(topology.ranks.size(), "GPU"),
                            counted(topology.nodes.size() - topology.ranks.size(), "switch node"),
                            counted(topology.links.size(), "link")));
  return ExitCode::done;
}

// An option that no generator has, or sizes without one: what the fabric that is named takes.
std::string explain(const GenArguments& options, const std::vector<std::string>& unknown) {
  const auto all = generators();
  const auto named = std::ranges::find(all, options.name, &Generator::name);
  const auto word =
      std::ranges::find_if(unknown, [](const std::string& text) { return text.starts_with("--"); });
  if (named == all.end()) return {};
  std::vector<std::string> known;
  for (const GeneratorParameter& parameter : named->parameters) {
    known.push_back("--" + parameter.name);
  }
  const std::string taken = fmt::format("it takes {}", fmt::join(known, ", "));
  if (word == unknown.end()) {
    return fmt::format("\"{}\" is one argument too many: {} has parameters; {}", unknown.front(),
                       named->name, taken);
  }
  const std::string option = word->substr(0, word->find('='));
  const std::string meant = nearest_word(option, known);
  return validator_text(Code::G02,
                        fmt::format("{} has no parameter {}; {}{}", named->name, option, taken,
                                    meant.empty() ? "" : fmt::format("; did you mean {}?", meant)));
}

// One option per parameter that any generator has; which of them fit is for the generator to say.
void add_parameters(CLI::App& command, const std::shared_ptr<GenArguments>& options) {
  std::map<std::string, std::vector<std::string>> users;
  for (const Generator& generator : generators()) {
    for (const GeneratorParameter& parameter : generator.parameters) {
      users[parameter.name].push_back(generator.name);
    }
  }
  for (const auto& [name, names] : users) {
    const std::string of = names.size() <= 3 ? fmt::format("{}", fmt::join(names, ", "))
                                             : fmt::format("{}, {}, …", names[0], names[1]);
    command
        .add_option_function<std::string>(
            "--" + name,
            [options, key = name](const std::string& value) { options->values[key] = value; },
            "For " + of)
        ->type_name("VALUE")
        ->group("Parameters (see --list)");
  }
}

}  // namespace

Command add_topo_gen(CLI::App& program) {
  auto options = std::make_shared<GenArguments>();
  CLI::App* command =
      topo_group(program).add_subcommand("gen", "Write the topology file of a named fabric");
  command->add_option("NAME", options->name,
                      "The fabric, such as dgx-a100 or torus, the expression of a direct-connect\n"
                      "topology, such as 'L2(diamond^2)', or the file of a machine of your own,\n"
                      "such as ./mine.json");
  const OptionGroup general(*command);
  general.flag("--list", options->list, "List all fabrics with their parameters");
  general.flag("--json", options->json,
               "List them as JSON (format forestcoll-generators, version 1)");
  add_json_version_option(*command);
  general.option("-o,--output", options->out, "FILE", "File to write, or - for standard output")
      ->capture_default_str();
  add_jobs_option(*command);
  add_parameters(*command, options);
  command->footer(
      "Bandwidths are the vendors' nominal figures; the file names their source. Textbook\n"
      "networks have unit links unless --bandwidth says otherwise.\n"
      "\n"
      "Examples:\n"
      "  forestcoll topo gen --list\n"
      "  forestcoll topo gen dgx-a100 --boxes 2 --fabric odd-even -o a100.json\n"
      "  forestcoll topo gen dgx-h100 --boxes 128 --fabric rail-spine --oversubscription 2:1\n"
      "  forestcoll topo gen ./my-machine.json --boxes 4\n"
      "  forestcoll topo gen torus --dims 8x8x8 --bandwidth '100 Gb/s'\n"
      "  forestcoll topo gen 'circulant(16,3,4) x ring(4)' --bandwidth 50\n"
      "  forestcoll topo gen jellyfish --switches 64 --degree 8 --seed 7 | forestcoll bound -\n"
      "\n"
      "Exit codes: 0 done, 2 wrong name or parameter, 4 cannot write, 70 internal error.");
  return {
      command, [options](const Console& console) { return run_gen(*options, console); },
      [options](const std::vector<std::string>& unknown) { return explain(*options, unknown); }};
}

}  // namespace forestcoll::cli
