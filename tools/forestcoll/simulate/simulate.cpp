// `forestcoll simulate`: how long would this schedule take?
#include "forestcoll/simulate.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command.hpp"
#include "common/fabric.hpp"
#include "common/files/detect_format.hpp"
#include "common/files/io.hpp"
#include "common/files/named_files.hpp"
#include "common/host.hpp"
#include "common/job/written.hpp"
#include "common/options/help_groups.hpp"
#include "common/options/shared_options.hpp"
#include "common/report/json_version.hpp"
#include "common/report/lengths_report.hpp"
#include "common/report/progress_bar.hpp"
#include "common/report/report.hpp"
#include "common/report/table.hpp"
#include "common/report/time_report.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/text.hpp"
#include "simulate/step_schedules.hpp"

namespace forestcoll::cli {
namespace {

constexpr const char* kModelLine = "model, not measurement";
constexpr std::size_t kShownLinks = 3;

struct SimulateArguments {
  std::string schedule;
  std::string topology;
  ReadingOptions reading;
  Failures failures;
  std::string sizes = "1K:4G:4";
  bool sizes_given = false;
  std::string gpu;         // empty: the fabric's own
  std::string parameters;  // a file
  int threads = 0;         // as many as there are processors
  bool every_pass = false;
  bool json = false;
};

// What the simulation reckons with, and why, in words.
struct Figures {
  SimulationParameters parameters;
  std::string chosen;
};

std::string time_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.2f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.3f} ms", seconds * 1e3);
  return fmt::format("{:.3f} s", seconds);
}

// Links, and what they share, in words, with the part of the time that each is busy; the busiest
// first, of equals limits and then links by name.
std::vector<std::pair<std::string, double>> by_use(const Simulation& simulation,
                                                   const Topology& topology) {
  std::vector<std::pair<std::string, double>> uses;
  const auto network = to_digraph(topology);
  for (const LimitUse& limit : simulation.limits) {
    uses.emplace_back(limit_in_words(topology, *network, limit.limit), limit.busy);
  }
  for (const LinkUse& link : simulation.links) {
    uses.emplace_back(fmt::format("{} -> {}", link.src, link.dst), link.busy);
  }
  std::ranges::stable_sort(uses, [](const auto& a, const auto& b) { return a.second > b.second; });
  return uses;
}

std::string busiest_lines(const Simulation& simulation, const Topology& topology) {
  std::string text;
  const auto uses = by_use(simulation, topology);
  const std::string head =
      simulation.limits.empty() ? "busiest links: " : "busiest links and limits: ";
  for (std::size_t i = 0; i < std::min(kShownLinks, uses.size()); ++i) {
    text += fmt::format("  {}{} is busy {:.1f} % of the time at the largest size\n",
                        i == 0 ? head : std::string(head.size(), ' '), uses[i].first,
                        uses[i].second * 100);
  }
  return text;
}

// The head of a report: what its times are.
std::string simulated_with(const Figures& figures) {
  return fmt::format("simulated ({}); GPU parameters: {} ({})", kModelLine, figures.parameters.name,
                     figures.chosen);
}

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

Json times_json(const Simulation& simulation) {
  Json times = Json::array();
  for (const SimulatedTime& time : simulation.times) {
    times.push_back({{"bytes", static_cast<std::int64_t>(time.bytes)},
                     {"simulated_seconds", time.seconds},
                     {"simulated_algbw", time.algbw},
                     {"simulated_busbw", time.busbw}});
  }
  return times;
}

Json links_json(const Simulation& simulation) {
  Json links = Json::array();
  for (const LinkUse& link : simulation.links) {
    links.push_back({{"src", link.src}, {"dst", link.dst}, {"busy", link.busy}});
  }
  return links;
}

// "links", and "shared_limits" where the topology has any.
void put_uses(Json& json, const Simulation& simulation, const Topology& topology) {
  json["links"] = links_json(simulation);
  if (topology.limits.empty()) return;
  const auto network = to_digraph(topology);
  json["shared_limits"] = Json::array();
  for (const LimitUse& limit : simulation.limits) {
    json["shared_limits"].push_back(limit_json(topology, *network, limit.limit));
    json["shared_limits"].back()["busy"] = limit.busy;
  }
}

Json json_of(const Figures& figures) {
  return {{"name", figures.parameters.name},
          {"source", figures.parameters.source},
          {"chosen", figures.chosen}};
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

Expected<Simulation> simulate(const Simulator& simulator, const std::vector<std::int64_t>& sizes,
                              const Figures& figures, const SimulateArguments& options,
                              const Console& console) {
  ProgressBar bar("simulating", console);
  SimulationOptions simulation;
  simulation.progress = [&](double fraction) { bar.update(fraction); };
  simulation.every_pass = options.every_pass;
  simulation.threads = options.threads;
  simulation.stop = stop_of_host();
  return simulator.run(sizes, figures.parameters, simulation);
}

// The largest buffer of a step, where all operations have bytes.
std::optional<std::int64_t> largest_buffer(const WrittenStep& step) {
  std::int64_t largest = 0;
  for (const WrittenOperation& operation : step.operations) {
    if (!operation.bytes) return std::nullopt;
    largest = std::max(largest, *operation.bytes);
  }
  return largest;
}

// Seconds by size: of all at once, and of one operation after the other, each with its groups at
// once; the latter of several operations.
struct StepTimes {
  std::vector<double> at_once = {}, in_turn = {};
};

struct SimulatedStep {
  const WrittenStep* of = nullptr;
  Simulation simulation;
  std::vector<double> in_turn = {};  // of our schedules, as in StepTimes
  StepTimes runtime = {};            // empty: it has no schedules of its own for all groups
};

// What a job is simulated with, beside its files.
struct JobSimulation {
  const LoadedTopology& fabric;
  const Figures& figures;
  const SimulateArguments& options;
  const Console& console;
};

// The same schedules, one operation after the other.
Expected<std::vector<double>> simulate_in_turn(const WrittenStep& step, const StepSchedules& files,
                                               const std::vector<std::int64_t>& sizes,
                                               const JobSimulation& with) {
  std::vector<double> seconds(step.operations.size() > 1 ? sizes.size() : 0, 0);
  for (std::size_t i = 0; !seconds.empty() && i < step.operations.size(); ++i) {
    const auto simulator = files.one(i, with.fabric.topology);
    if (!simulator) return simulator.errors();
    std::vector<std::int64_t> own;
    for (const std::int64_t size : sizes) {
      const double bytes = static_cast<double>(size) * step.operations[i].share;
      own.push_back(std::max<std::int64_t>(1, std::llround(bytes)));
    }
    const auto alone = simulate(*simulator, own, with.figures, with.options, with.console);
    if (!alone) return alone.errors();
    for (std::size_t s = 0; s < sizes.size(); ++s) seconds[s] += alone->times[s].seconds;
  }
  return seconds;
}

// What a runtime's own schedules take, which depend on the size.
Expected<StepTimes> simulate_runtime(const WrittenStep& step,
                                     const std::vector<std::int64_t>& sizes,
                                     const JobSimulation& with) {
  StepTimes times;
  for (const std::int64_t size : sizes) {
    const auto schedules = StepSchedules::of_runtime(step, with.fabric, size);
    if (!schedules) return StepTimes();
    const auto simulator = schedules->all(with.fabric.topology);
    if (!simulator) return simulator.errors();
    const auto all = simulate(*simulator, {size}, with.figures, with.options, with.console);
    if (!all) return all.errors();
    const auto in_turn = simulate_in_turn(step, *schedules, {size}, with);
    if (!in_turn) return in_turn.errors();
    times.at_once.push_back(all->times.front().seconds);
    times.in_turn.insert(times.in_turn.end(), in_turn->begin(), in_turn->end());
  }
  return times;
}

Expected<SimulatedStep> simulate_step(const WrittenStep& step,
                                      const std::vector<std::int64_t>& asked,
                                      const JobSimulation& with) {
  const auto files = StepSchedules::read(step, with.options.reading, with.console);
  if (!files) return files.errors();
  const auto simulator = files->all(with.fabric.topology);
  if (!simulator) return simulator.errors();
  const auto own = with.options.sizes_given ? std::nullopt : largest_buffer(step);
  const std::vector<std::int64_t> sizes = own ? std::vector{*own} : asked;
  auto simulation = simulate(*simulator, sizes, with.figures, with.options, with.console);
  if (!simulation) return simulation.errors();
  auto in_turn = simulate_in_turn(step, *files, sizes, with);
  if (!in_turn) return in_turn.errors();
  auto runtime = simulate_runtime(step, sizes, with);
  if (!runtime) return runtime.errors();
  return SimulatedStep{&step, *std::move(simulation), *std::move(in_turn), *std::move(runtime)};
}

// A row for each size, with what the step has.
Table step_table(const SimulatedStep& step) {
  const auto& [of, simulation, in_turn, runtime] = step;
  Table table{{"bytes", "time", "algbw GB/s"}};
  if (!in_turn.empty()) table.head.emplace_back("one after the other");
  if (!runtime.at_once.empty()) table.head.emplace_back("runtime's own");
  if (!runtime.in_turn.empty()) table.head.emplace_back("its own in turn");
  for (std::size_t s = 0; s < simulation.times.size(); ++s) {
    const SimulatedTime& time = simulation.times[s];
    std::vector<std::string> row = {size_as_option(static_cast<std::int64_t>(time.bytes)),
                                    time_text(time.seconds), fmt::format("{:.3f}", time.algbw)};
    for (const auto* column : {&in_turn, &runtime.at_once, &runtime.in_turn}) {
      if (!column->empty()) row.push_back(time_text((*column)[s]));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string job_in_words(const std::vector<SimulatedStep>& steps, const Figures& figures,
                         const std::string& file, const Topology& topology) {
  std::string text;
  for (const SimulatedStep& step : steps) {
    text += fmt::format("{}, {}: {}{}\n", file, step.of->name, step.simulation.collective,
                        text.empty() ? "; " + simulated_with(figures) : "");
    text += aligned(step_table(step), 0, 0);
    text += busiest_lines(step.simulation, topology);
    text +=
        fmt::format("  algbw is of the largest buffer; trees and paths reach at most {:.3f} GB/s\n",
                    step.of->rate);
  }
  return text;
}

Json job_to_json(const std::vector<SimulatedStep>& steps, const Figures& figures,
                 const std::string& file, const Topology& topology) {
  Json list = Json::array();
  for (const auto& [step, simulation, in_turn, runtime] : steps) {
    Json times = times_json(simulation);
    for (std::size_t s = 0; s < times.size(); ++s) {
      times[s].erase("simulated_busbw");  // of several collectives there is none
      const auto put = [&](const char* key, const std::vector<double>& seconds) {
        if (!seconds.empty()) times[s][key] = seconds[s];
      };
      put("simulated_seconds_in_turn", in_turn);
      put("runtime_simulated_seconds", runtime.at_once);
      put("runtime_simulated_seconds_in_turn", runtime.in_turn);
    }
    list.push_back({{"name", step->name},
                    {"repeat", step->repeat},
                    {"rate",
                     {{"exact", step->exact_rate.empty() ? Json() : Json(step->exact_rate)},
                      {"value", step->rate}}},
                    {"collective", simulation.collective},
                    {"protocol", simulation.protocol},
                    {"events", simulation.events},
                    {"times", std::move(times)}});
    put_uses(list.back(), simulation, topology);
  }
  return {{"format", "forestcoll-simulation-job"},
          {"version", 2},
          {"file", file},
          {"topology", topology.name},
          {"estimate", kModelLine},
          {"compute_nodes", topology.ranks.size()},
          {"parameters", json_of(figures)},
          {"latencies", latencies_json(topology)},
          {"steps", std::move(list)}};
}

ExitCode run_simulate_job(std::string_view text, const std::vector<std::int64_t>& sizes,
                          const LoadedTopology& fabric, const Figures& figures,
                          const SimulateArguments& options, const Console& console) {
  const auto job = read_written_job(text, options.schedule);
  if (!job) return fail(job.errors(), console);
  std::vector<SimulatedStep> steps;
  for (const WrittenStep& step : *job) {
    auto simulated = simulate_step(step, sizes, {fabric, figures, options, console});
    if (!simulated) return fail(simulated.errors(), console);
    steps.push_back(*std::move(simulated));
  }
  const std::string file = display_name(options.schedule);
  const std::string report =
      options.json ? report_text(job_to_json(steps, figures, file, fabric.topology), console)
                   : job_in_words(steps, figures, file, fabric.topology);
  return finish(write_output("-", report), console);
}

ExitCode run_simulate(const SimulateArguments& options, const Console& console) {
  if (const auto done = refuse_clashes({{"schedule file", options.schedule},
                                        {"topology file", options.topology},
                                        {"--parameters file", options.parameters}},
                                       {{"the report", "-"}});
      !done) {
    return fail(done.errors(), console);
  }
  auto sizes = parse_sizes(options.sizes);
  if (!sizes) return fail(sizes.errors(), console);
  const auto text = read_input(options.schedule);
  if (!text) return fail(text.errors(), console);
  if (const auto done = refuse_topology_as_schedule(*text, display_name(options.schedule),
                                                    "forestcoll simulate SCHEDULE TOPOLOGY");
      !done) {
    return fail(done.errors(), console);
  }
  const auto topology = load_topology(options.topology, options.reading, options.failures, console);
  if (!topology) return fail(topology.errors(), console);
  report_reading(*topology, options.reading, console);
  report_latencies(topology->topology, console);
  const auto figures = choose_figures(options, topology->gpu);
  if (!figures) return fail(figures.errors(), console);
  if (is_job_report(*text)) {
    return run_simulate_job(*text, *sizes, *topology, *figures, options, console);
  }
  const std::string file = display_name(options.schedule);
  const auto prepare = [&] {
    const ProgressBar bar("checking", console);
    return prepare_simulation(*text, file, topology->topology);
  };
  const auto simulator = prepare();
  if (!simulator) return fail(simulator.errors(), console);
  if (!options.sizes_given && simulator->own_bytes()) sizes = std::vector{*simulator->own_bytes()};
  const auto simulation = simulate(*simulator, *sizes, *figures, options, console);
  if (!simulation) return fail(simulation.errors(), console);
  const std::string report =
      options.json
          ? report_text(json_report(*simulation, *figures, file, topology->topology), console)
          : text_report(*simulation, *figures, file, topology->topology);
  return finish(write_output("-", report), console);
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
  add_latency_option(*command, options->failures);
  add_dump_options(*command, options->reading.dump);
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
      "\n"
      "Exit codes: 0 done, 2 sizes, parameters or a topology with errors, or a schedule that is\n"
      "wrong or not for this topology, 3 too much to simulate, 4 cannot read or write, 70 "
      "internal\n"
      "error.");
  return {command, [options](const Console& console) { return run_simulate(*options, console); }};
}

}  // namespace forestcoll::cli
