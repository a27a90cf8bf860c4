// `forestcoll simulate`: how long would this schedule take?
#include "forestcoll/simulate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/files/detect_format.hpp"
#include "common/files/io.hpp"
#include "common/files/named_files.hpp"
#include "common/job/written.hpp"
#include "common/options/help_groups.hpp"
#include "common/options/json_version_option.hpp"
#include "common/options/shared_options.hpp"
#include "common/report/json_version.hpp"
#include "common/report/progress_bar.hpp"
#include "common/report/time_report.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/text.hpp"
#include "simulate/job.hpp"

namespace forestcoll::cli {
namespace {

std::string text_report(const Simulation& simulation, const Figures& figures,
                        const std::string& file, const Topology& topology) {
  std::string text = fmt::format("{}: {} over {}, {}; {}\n", file, simulation.collective,
                                 counted(static_cast<std::size_t>(simulation.ranks), "rank"),
                                 simulation.protocol, simulated_with(figures));
  text +=
      fmt::format("  {:>8} {:>12} {:>12} {:>12}\n", "bytes", "time", "algbw GB/s", "busbw GB/s");
  for (const SimulatedTime& time : simulation.times) {
    text += fmt::format("  {:>8} {:>12} {:>12.3f} {:>12.3f}\n",
                        size_as_option(static_cast<std::int64_t>(time.bytes)),
                        time_text(time.seconds), time.algbw, time.busbw);
  }
  return text + busiest_lines(simulation, topology);
}

Json json_report(const Simulation& simulation, const Figures& figures, const std::string& file,
                 const Topology& topology) {
  Json report = {{"format", "forestcoll-simulation"},
                 {"version", 2},
                 {"file", file},
                 {"topology", topology.name},
                 {"estimate", kModelLine},
                 {"schedule", simulation.schedule},
                 {"collective", simulation.collective},
                 {"protocol", simulation.protocol},
                 {"compute_nodes", simulation.ranks},
                 {"parameters", json_of(figures)},
                 {"latencies", latencies_json(topology)},
                 {"events", simulation.events}};
  report["times"] = times_json(simulation);
  put_uses(report, simulation, topology);
  return report;
}

// As they are asked for; else those of the fabric's GPU.
Expected<Figures> choose_figures(const SimulateArguments& options, const ChosenGpu& of_fabric) {
  if (!options.parameters.empty()) {
    const auto text = read_input(options.parameters);
    if (!text) return text.errors();
    auto figures = parse_simulation_parameters(*text, display_name(options.parameters));
    if (!figures) return figures.errors();
    return Figures{*std::move(figures), "from " + display_name(options.parameters)};
  }
  const ChosenGpu gpu = options.gpu.empty() ? of_fabric : ChosenGpu{options.gpu, "as asked for"};
  auto figures = find_simulation_parameters(gpu.name);
  if (!figures) return figures.errors();
  return Figures{*std::move(figures), gpu.reason};
}

Expected<ExitCode> run_simulate(const SimulateArguments& options, const Console& console) {
  if (const auto done = refuse_clashes({{"schedule file", options.schedule},
                                        {"topology file", options.topology},
                                        {"--parameters file", options.parameters}},
                                       {{"the report", "-"}});
      !done) {
    return done.errors();
  }
  const std::string none;
  if (const auto done =
          refuse_misplaced_groups(options.groups, {options.failures, none, none, false});
      !done) {
    return done.errors();
  }
  auto sizes = parse_sizes(options.sizes);
  if (!sizes) return sizes.errors();
  const auto text = read_input(options.schedule);
  if (!text) return text.errors();
  if (const auto done = refuse_topology_as_schedule(*text, display_name(options.schedule),
                                                    "forestcoll simulate SCHEDULE TOPOLOGY");
      !done) {
    return done.errors();
  }
  const auto topology = load_topology(options.topology, options.reading, options.failures, console);
  if (!topology) return topology.errors();
  report_reading(*topology, options.reading, console);
  report_latencies(topology->topology, console);
  const auto figures = choose_figures(options, topology->gpu);
  if (!figures) return figures.errors();
  const JobSimulation with{*topology, *figures, options, console};
  if (is_job_report(*text)) {
    if (options.groups.given()) {
      return make_error(Code::S04, "--groups: job.json names its groups", "leave --groups out");
    }
    return simulate_job(*text, *sizes, with);
  }
  if (options.groups.given()) return simulate_in_groups(*text, *sizes, with);
  const std::string file = display_name(options.schedule);
  const auto prepare = [&] {
    const ProgressBar bar("checking", console);
    return prepare_simulation(*text, file, topology->topology);
  };
  const auto simulator = prepare();
  if (!simulator) return simulator.errors();
  if (!options.sizes_given && simulator->own_bytes()) sizes = std::vector{*simulator->own_bytes()};
  const auto simulation = simulate(*simulator, *sizes, *figures, options, console);
  if (!simulation) return simulation.errors();
  const std::string report =
      options.json
          ? report_text(json_report(*simulation, *figures, file, topology->topology), console)
          : text_report(*simulation, *figures, file, topology->topology);
  return finish(write_output("-", report));
}

// `verify` takes the topology as an option, `simulate` as its second argument.
std::string explain_unknown(const std::vector<std::string>& unknown) {
  std::string operations = explain_operations(unknown, "forestcoll simulate DIR/job.json TOPOLOGY");
  if (!operations.empty() || unknown.front() != "--topology") return operations;
  return "there is no option --topology: write `forestcoll simulate SCHEDULE TOPOLOGY`";
}

}  // namespace

Command add_simulate(CLI::App& program) {
  auto options = std::make_shared<SimulateArguments>();
  CLI::App* command = program.add_subcommand(
      "simulate", "Simulate a schedule: time and rate by size (a model, not a measurement)");
  add_schedule_argument(*command, options->schedule);
  command->add_option("TOPOLOGY", options->topology, "Topology file of the fabric that it runs on")
      ->required();
  add_failure_options(*command, options->failures);
  add_groups_options(*command, options->groups);
  add_latency_option(*command, options->failures);
  add_reading_options(*command, options->reading);
  const OptionGroup general(*command);
  general
      .option("--sizes", options->sizes, "SIZES",
              fmt::format(
                  "Bytes of the whole buffer, in an alltoall of what a GPU sends: {}; the default\n"
                  "for an alltoallv of unequal amounts is its own size",
                  kSizesInWords))
      ->each([options](const std::string&) { options->sizes_given = true; })
      ->capture_default_str();
  auto* gpu = general.option(
      "--gpu", options->gpu, "NAME",
      fmt::format("GPU parameters: {}; \"ideal\" has no costs but those of the topology's links.\n"
                  "Default: the GPU that the fabric names or has the links of, else a100",
                  fmt::join(simulation_gpus(), ", ")));
  add_file_option(*command, "--parameters", options->parameters,
                  "Your own GPU parameters, a JSON file (forestcoll-simulation-parameters)")
      ->excludes(gpu);
  general.flag("--every-pass", options->every_pass,
               "Simulate every pass over the program; by default the time of many passes is\n"
               "extrapolated once each takes as long as the one before");
  add_jobs_option(*command, options->threads,
                  "Sizes at a time (default: all processors); the result does not depend on it");
  general.flag("--json", options->json, "Report as JSON (format forestcoll-simulation, version 2)");
  add_json_version_option(*command);
  group_options(*command, {"--sizes", "--gpu", "--json"});
  command->footer(
      "Transfers share links max-min fairly; threadblocks run their steps one by one, in passes\n"
      "over the program, with as many operations in flight as the protocol has slots. Forests\n"
      "have no threadblocks: their edges send as fast as links and latencies allow. Flows of an\n"
      "alltoall run round by round on every link: one message for all that takes the same links.\n"
      "\n"
      "Examples:\n"
      "  forestcoll simulate allreduce.xml topologies/dgx-a100-x2.json\n"
      "  forestcoll simulate forest.json fabric.json --gpu ideal --sizes 1K:4G\n"
      "  forestcoll synth fabric.json | forestcoll simulate - fabric.json --sizes 1G --json\n"
      "  forestcoll simulate groups/job.json fabric.json    (all of `synth --groups` at once)\n"
      "  forestcoll simulate pairs.xml fabric.json --groups 'MOD 8'    (one file in all groups)\n"
      "\n"
      "Exit codes: 0 done, 2 sizes, parameters or a topology with errors, or a schedule that is\n"
      "wrong or not for this topology, 3 too much to simulate, 4 cannot read or write, 70 "
      "internal\n"
      "error.");
  return {command, [options](const Console& console) { return run_simulate(*options, console); },
          explain_unknown};
}

}  // namespace forestcoll::cli
