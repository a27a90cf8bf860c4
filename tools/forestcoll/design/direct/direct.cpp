// `forestcoll design direct`: the best wiring for so many accelerators.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cctype>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "command.hpp"
#include "common/files/io.hpp"
#include "common/files/named_files.hpp"
#include "common/options/collective_option.hpp"
#include "common/options/json_version_option.hpp"
#include "common/options/shared_options.hpp"
#include "common/report/json_version.hpp"
#include "common/report/report.hpp"
#include "design/direct/direct_report.hpp"
#include "design/direct/direct_study.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/generate.hpp"
#include "forestcoll/topology_text.hpp"

namespace forestcoll::cli {
namespace {

struct DirectArguments {
  DirectRequest request;
  std::vector<std::string> also;
  std::string collective;
  std::string bandwidth = "1";
  std::string svg, html, csv, directory;
  bool json = false, front = false, thorough = false;
  int threads = 0;
};

Expected<DirectAim> aim_of(const std::string& collective) {
  if (collective.empty()) return DirectAim::all;
  if (collective == "alltoall") return DirectAim::alltoall;
  if (collective == "allgather" || collective == "reduce_scatter" || collective == "allreduce") {
    return DirectAim::allgather;
  }
  return make_error(Code::S04,
                    fmt::format("a direct-connect topology is not chosen by {}", collective),
                    "choose allgather, reduce_scatter, allreduce or alltoall, or leave it out");
}

// "01-L2-diamond-2.json": the place in the table, and the expression in letters that any file
// system takes.
std::string file_name(std::size_t place, const std::string& expression) {
  std::string name;
  for (const char c : expression) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (plain) name += c;
    if (!plain && !name.empty() && name.back() != '-') name += '-';
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  return fmt::format("{:02}-{}.json", place, name);
}

// The wirings of the front, as topology files.
Expected<void> write_files(const DirectStudy& study, const DirectArguments& options,
                           const Console& console) {
  std::error_code problem;
  std::filesystem::create_directories(options.directory, problem);
  std::size_t place = 0;
  for (const StudiedWiring& studied : study.wirings) {
    if (!studied.on_front) continue;
    const auto wiring = make_wiring(studied.expression);
    if (!wiring) return wiring.errors();
    const std::string path = options.directory + "/" + file_name(++place, studied.expression);
    const std::string text = to_topology_json(to_document(*wiring, options.bandwidth));
    if (auto done = write_output(path, text); !done) return done;
    note(console, "wrote " + path);
  }
  return {};
}

Expected<void> write_all(const DirectStudy& study, const DirectArguments& options,
                         const Console& console) {
  if (!options.svg.empty()) {
    if (auto done = write_output(options.svg, chart_of(study)); !done) return done;
  }
  if (!options.html.empty()) {
    if (auto done = write_output(options.html, page_of(study)); !done) return done;
  }
  if (!options.csv.empty()) {
    if (auto done = write_output(options.csv, to_csv(study)); !done) return done;
  }
  if (!options.directory.empty()) {
    if (auto done = write_files(study, options, console); !done) return done;
  }
  return write_output(
      "-", options.json ? report_text(to_json(study), console) : table_of(study, options.front));
}

Expected<DirectAim> check(const DirectArguments& options) {
  if (auto done = refuse_clashes({}, {{"the report", "-"},
                                      {"--svg", options.svg},
                                      {"--html", options.html},
                                      {"--csv", options.csv}});
      !done) {
    return done.errors();
  }
  if (!parse_bandwidth(options.bandwidth)) {
    return make_error(Code::S03,
                      fmt::format("--bandwidth: \"{}\" is no bandwidth", options.bandwidth),
                      "give a positive one, such as 25 or \"200 Gb/s\"");
  }
  return aim_of(options.collective);
}

Expected<ExitCode> run_direct(const DirectArguments& options, const Console& console) {
  const auto aim = check(options);
  if (!aim) return aim.errors();
  const auto study =
      study_direct(options.request, options.also, *aim, options.thorough, options.threads, console);
  if (!study) return study.errors();
  return finish(write_all(*study, options, console));
}

void add_outputs(CLI::App& command, DirectArguments& options) {
  const OptionGroup general(command);
  general.flag("--json", options.json,
               "Report as JSON (format forestcoll-design-direct, version 2)");
  add_json_version_option(command);
  general.flag("--front", options.front, "List only topologies on the Pareto front");
  general.option("--csv", options.csv, "FILE", "Write all figures, exactly");
  general.option("--svg", options.svg, "FILE", "Draw times over steps");
  general.option("--html", options.html, "FILE", "Write a page with chart and table");
  general.option("--write", options.directory, "DIR", "Write the Pareto front as topology files");
  general
      .option("--bandwidth", options.bandwidth, "BANDWIDTH",
              "Bandwidth of each link in these files")
      ->capture_default_str();
}

}  // namespace

Command add_design_direct(CLI::App& program) {
  auto options = std::make_shared<DirectArguments>();
  CLI::App* command = design_group(program).add_subcommand(
      "direct", "Find the best direct-connect topologies (no switches) of N accelerators");
  const OptionGroup general(*command);
  general.option("-n,--nodes", options->request.nodes, "N", "Number of accelerators")->required();
  general
      .option("--ports,--degree", options->request.ports, "D",
              "Ports of each, to send and to receive")
      ->required();
  add_collective_option(*command, options->collective,
                        "Pareto front of steps and the time of this collective (default: of\n"
                        "allgather and alltoall)");
  general.list("--also", options->also, "TOPOLOGY",
               "Also study this topology, an expression; several times");
  general.flag("--two-way", options->request.two_way, "Use only cables that go both ways");
  general
      .option("--randoms", options->request.randoms, "N", "Number of random regular graphs to try")
      ->check(number_from(0, 100))
      ->capture_default_str();
  general.flag("--thorough", options->thorough,
               "Also solve all-to-all of large irregular topologies that may be on the Pareto\n"
               "front or are named by --also; takes long");
  add_outputs(*command, *options);
  add_jobs_option(*command, options->threads, "Topologies at a time (default: all processors)");
  command->footer(
      "Candidates are all base graphs of the size (see `topo gen --list`), and products, powers,\n"
      "line digraphs and degree expansions of smaller ones. A smaller one is used unless another\n"
      "is better in steps, BFB time and mean distance. Rates are exact; for bisection and\n"
      "all-to-all a proved interval is printed where they are not.\n"
      "\n"
      "Times are in units of M/B: M is the size of the whole buffer, B the bandwidth of all ports\n"
      "of a node together. No allgather takes less than (N-1)/N.\n"
      "\n"
      "Examples:\n"
      "  forestcoll design direct --nodes 64 --degree 4\n"
      "  forestcoll design direct --nodes 1024 --degree 4 --front --html direct.html\n"
      "  forestcoll design direct -n 256 --ports 8 --two-way -c alltoall --write front/\n"
      "\n"
      "Exit codes: 0 done, 2 wrong input, 3 too large for exact arithmetic, 4 cannot write, 70 "
      "internal\n"
      "error.");
  return {command, [options](const Console& console) { return run_direct(*options, console); }};
}

}  // namespace forestcoll::cli
