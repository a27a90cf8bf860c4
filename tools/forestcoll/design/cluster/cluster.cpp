// `forestcoll design cluster`: the best fabric of switches for the money.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "command.hpp"
#include "common/files/io.hpp"
#include "common/files/named_files.hpp"
#include "common/options/json_version_option.hpp"
#include "common/options/shared_options.hpp"
#include "common/report/json_version.hpp"
#include "common/report/report.hpp"
#include "design/cluster/cluster_study.hpp"
#include "design/cluster/costs.hpp"

namespace forestcoll::cli {
namespace {

struct ClusterArguments {
  ClusterRequest request;
  std::string costs, csv, svg, html, directory;
  bool json = false, front = false;
};

// The fabrics of the front, as topology files, the cheapest first.
Expected<void> write_fabrics(const ClusterStudy& study, const std::string& directory,
                             const Console& console) {
  std::error_code problem;
  std::filesystem::create_directories(directory, problem);
  std::size_t place = 0;
  for (const ClusterOffer& offer : study.offers) {
    if (!offer.on_front) continue;
    const std::string path = fmt::format("{}/{:02}-{}-{}.json", directory, ++place,
                                         to_string(offer.shape.layout), offer.shape.levels);
    const std::string text = to_topology_json(to_document(offer.shape));
    if (auto done = write_output(path, text); !done) return done;
    note(console, "wrote " + path);
  }
  return {};
}

Expected<void> write_study(const ClusterStudy& study, const ClusterArguments& options,
                           const Console& console) {
  if (!options.csv.empty()) {
    if (auto done = write_output(options.csv, to_csv(study)); !done) return done;
  }
  if (!options.svg.empty()) {
    if (auto done = write_output(options.svg, chart_of(study)); !done) return done;
  }
  if (!options.html.empty()) {
    if (auto done = write_output(options.html, page_of(study)); !done) return done;
  }
  if (!options.directory.empty()) {
    if (auto done = write_fabrics(study, options.directory, console); !done) return done;
  }
  return write_output(
      "-", options.json ? report_text(to_json(study), console) : table_of(study, options.front));
}

Expected<ExitCode> run_cluster(const ClusterArguments& options, const Console& console) {
  if (const auto done =
          refuse_clashes({{"--costs file", options.costs}}, {{"the report", "-"},
                                                             {"--csv", options.csv},
                                                             {"--svg", options.svg},
                                                             {"--html", options.html}});
      !done) {
    return done.errors();
  }
  const auto text = read_input(options.costs);
  if (!text) return text.errors();
  const auto costs = parse_costs(*text, display_name(options.costs));
  if (!costs) return costs.errors();
  const auto study = study_clusters(options.request, *costs, console);
  if (!study) return study.errors();
  return finish(write_study(*study, options, console));
}

}  // namespace

Command add_design_cluster(CLI::App& program) {
  auto options = std::make_shared<ClusterArguments>();
  CLI::App* command = design_group(program).add_subcommand(
      "cluster", "Find the best switched fabrics for N GPUs, by cost and rate");
  const OptionGroup general(*command);
  general.option("--gpus", options->request.gpus, "N", "Number of GPUs, in whole boxes")
      ->required()
      ->check(number_from(std::size_t{2}, std::size_t{65'536}));
  general.option("--box", options->request.box, "NAME", "Type of the boxes, a name of `topo gen`")
      ->capture_default_str();
  general.option("--costs", options->costs, "FILE", "Prices of switches and cables (JSON)")
      ->required();
  general.option("--kept", options->request.kept, "DIR",
                 "Directory that keeps the rates of every fabric; known ones are reused");
  general.flag("--json", options->json,
               "Report as JSON (format forestcoll-design-cluster, version 2)");
  add_json_version_option(*command);
  general.flag("--front", options->front, "List only fabrics on the Pareto front");
  general.option("--csv", options->csv, "FILE", "Write all figures, exactly");
  general.option("--svg", options->svg, "FILE", "Draw allgather over cost");
  general.option("--html", options->html, "FILE", "Write a page with chart and table");
  general.option("--write", options->directory, "DIR", "Write the Pareto front as topology files");
  add_jobs_option(*command, options->request.threads,
                  "Fabrics at a time (default: all processors)");
  command->footer(
      "Fabrics are fat-trees, rails that are joined above or not, of one to three levels,\n"
      "oversubscribed 1, 1.5, 2, 3 and 4 times at each, and dragonflies, of every switch that has\n"
      "ports of the NICs' bandwidth, with the same or wider ones above it. On the Pareto front "
      "are\n"
      "those that no other beats by cost and all rates.\n"
      "docs/costs-example.json shows the format, with made-up prices.\n"
      "\n"
      "Examples:\n"
      "  forestcoll design cluster --gpus 1024 --costs docs/costs-example.json --front\n"
      "  forestcoll design cluster --gpus 16384 --box dgx-h100 --costs prices.json --kept figures\n"
      "\n"
      "Exit codes: 0 done, 2 wrong input, 3 too large for exact arithmetic, 4 cannot read or\n"
      "write, 70 internal error.");
  return {command, [options](const Console& console) { return run_cluster(*options, console); }};
}

}  // namespace forestcoll::cli
