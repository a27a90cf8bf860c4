// `forestcoll topo convert`: a topology in the format of another tool.
#include "forestcoll/convert.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "command.hpp"
#include "common/fabric.hpp"
#include "common/files/io.hpp"
#include "common/files/named_files.hpp"
#include "common/options/shared_options.hpp"
#include "common/report/progress_bar.hpp"
#include "common/report/report.hpp"
#include "common/report/time_report.hpp"
#include "common/report/warnings.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/simulate.hpp"

namespace forestcoll::cli {
namespace {

struct ConvertArguments {
  std::string topology;
  std::string format;  ///< empty: by the extension of `out`
  std::string out = "-";
  ReadingOptions reading;
  Failures failures;
};

constexpr const char* kSimgrid = "simgrid";  // a platform, which needs routes: no graph of others

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const GraphFormatInfo& info : graph_formats()) names.emplace_back(info.name);
  names.emplace_back(kSimgrid);
  return names;
}

std::string name_of(GraphFormat format) {
  const auto info = std::ranges::find(graph_formats(), format, &GraphFormatInfo::format);
  return std::string(info->name);
}

Expected<std::string> chosen_format(const ConvertArguments& options) {
  if (!options.format.empty()) return options.format;
  if (const auto format = graph_format_of_file(options.out)) return name_of(*format);
  return make_error(Code::C01,
                    fmt::format("{} does not say the format",
                                options.out == "-" ? "standard output" : options.out),
                    fmt::format("give --to {}", fmt::join(format_names(), ", ")));
}

Expected<Converted> converted_to(const std::string& format, const Topology& topology,
                                 const Metadata& metadata) {
  if (format != kSimgrid) return convert(topology, *find_graph_format(format), metadata);
  auto platform = to_simgrid(topology);
  if (!platform) return platform.errors();
  return Converted{*std::move(platform), {}};
}

Expected<ExitCode> run_convert(const ConvertArguments& options, const Console& console) {
  if (const auto done = refuse_clashes(
          {{"topology file", options.topology}, {"--box file", options.reading.dump.box}},
          {{"-o", options.out}});
      !done) {
    return done.errors();
  }
  const auto format = chosen_format(options);
  if (!format) return format.errors();
  const auto reading = reading_of(options.reading);
  if (!reading) return reading.errors();
  Metadata metadata;
  const auto parsed = read_topology(options.topology, *reading, console, &metadata);
  if (!parsed) return parsed.errors();
  report_parsed(*parsed, console);
  const auto degraded = at_work("reading the topology", console,
                                [&] { return degrade(parsed->topology, options.failures); });
  if (!degraded) return degraded.errors();
  for (const std::string& change : degraded->changes) note(console, change);
  if (*format == kSimgrid) report_latencies(degraded->topology, console);
  const auto converted = at_work(
      "converting", console, [&] { return converted_to(*format, degraded->topology, metadata); });
  if (!converted) return converted.errors();
  if (const auto done = write_output(options.out, converted->text); !done) return done.errors();
  if (!converted->lost.empty()) {
    note(console, fmt::format("left out, as the format has no place for it: {}",
                              fmt::join(converted->lost, ", ")));
  }
  const auto& limits = degraded->topology.limits;
  if (!limits.empty() && *format != kSimgrid && *format != name_of(GraphFormat::topology)) {
    warn_of_lost_limits(limits.size(), console);
  }
  return ExitCode::done;
}

}  // namespace

Command add_topo_convert(CLI::App& program) {
  auto options = std::make_shared<ConvertArguments>();
  CLI::App* command = topo_group(program).add_subcommand(
      "convert", "Write a topology in the format of another tool");
  add_topology_argument(*command, options->topology);
  const OptionGroup general(*command);
  general.option("-o,--output", options->out, "FILE", "File to write, or - for standard output")
      ->capture_default_str();
  general
      .option("--to", options->format, "FORMAT",
              "The format: topology (ours, ranges and templates expanded), networkx, "
              "json-graph, graphml, dot, csv or simgrid (a platform for smpirun);\n"
              "without it by FILE's extension")
      ->check(one_of(format_names()));
  add_jobs_option(*command);
  add_failure_options(*command, options->failures);
  add_latency_option(*command, options->failures);
  add_reading_options(*command, options->reading);
  command->footer(
      "Extensions: .json is our own format, .graphml, .dot or .gv, and .csv are those;\n"
      "networkx and json-graph need --to. Graphs have one directed edge per direction of\n"
      "every link; numbers are exact, and a bandwidth is that of all the cables that the\n"
      "attribute `cables` counts. What a format cannot say is named on standard error.\n"
      "\n"
      "Examples:\n"
      "  forestcoll topo convert fabric.json -o fabric.graphml\n"
      "  forestcoll topo convert fabric.json --to networkx -o fabric-nx.json\n"
      "  forestcoll topo convert fabric.json --to csv | head\n"
      "\n"
      "Exit codes: 0 done, 2 wrong input, 4 cannot read or write, 70 internal error.");
  return {command, [options](const Console& console) { return run_convert(*options, console); }};
}

}  // namespace forestcoll::cli
