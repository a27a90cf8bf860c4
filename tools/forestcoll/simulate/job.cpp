#include "simulate/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "common/files/io.hpp"
#include "common/job/group_fabrics.hpp"
#include "common/job/group_parts.hpp"
#include "common/job/request.hpp"
#include "common/job/step_schedules.hpp"
#include "common/job/written.hpp"
#include "common/report/json_version.hpp"
#include "common/report/table.hpp"
#include "common/report/time_report.hpp"
#include "forestcoll/job.hpp"
#include "forestcoll/joint_bound.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/text.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll::cli {
namespace {

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

Expected<SimulatedStep> simulate_step(const WrittenStep& step, const StepSchedules& files,
                                      const std::vector<std::int64_t>& asked,
                                      const JobSimulation& with) {
  const auto simulator = files.all(with.fabric.topology);
  if (!simulator) return simulator.errors();
  const auto own = with.options.sizes_given ? std::nullopt : largest_buffer(step);
  const std::vector<std::int64_t> sizes = own ? std::vector{*own} : asked;
  auto simulation = simulate(*simulator, sizes, with.figures, with.options, with.console);
  if (!simulation) return simulation.errors();
  auto in_turn = simulate_in_turn(step, files, sizes, with);
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
    text += fmt::format("  algbw is of the largest buffer; trees and paths reach {} {:.3f} GB/s\n",
                        step.of->has_weights ? "at the rates of the weights" : "at most",
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

Expected<ExitCode> write_report(const std::vector<SimulatedStep>& steps,
                                const JobSimulation& with) {
  const std::string file = display_name(with.options.schedule);
  const Topology& topology = with.fabric.topology;
  const std::string report =
      with.options.json
          ? report_text(job_to_json(steps, with.figures, file, topology), with.console)
          : job_in_words(steps, with.figures, file, topology);
  return finish(write_output("-", report));
}

// The step that one schedule of all groups is.
struct StepOfGroups {
  WrittenStep step;
  std::vector<ScheduleInPart> schedules;
};

// GB/s that trees and paths reach at most in all groups at once.
Expected<void> add_rate(WrittenStep& step, const Groups& groups, const Verdict& verdict,
                        const JobSimulation& with) {
  const auto network = to_digraph(with.fabric.topology);
  if (!network) return network.errors();
  JobOperation operation{step.name, verdict.collective, groups};
  if (verdict.root) operation.root = verdict.root->index();
  const auto bound =
      bound_step(*network, std::vector{operation}, has_relays(with.options.failures));
  if (!bound) return bound.errors();
  const JointOptimum& together = bound->together;
  step.rate = together.at_most.to_double();
  if (together.is_exact()) step.exact_rate = together.at_most.to_string();
  return {};
}

Expected<StepOfGroups> step_of(std::string_view text, const Groups& groups,
                               const JobSimulation& with) {
  const std::string file = display_name(with.options.schedule);
  const auto verdict = verify(text, file, nullptr, {});
  if (!verdict) return verdict.errors();
  if (auto done = refuse_for_groups(verdict->format, !verdict->groups.empty()); !done) {
    return done.errors();
  }
  StepOfGroups made;
  WrittenOperation operation;
  operation.collective = verdict->collective_name;
  const GroupFabrics fabrics(with.fabric.topology, has_relays(with.options.failures));
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (groups[g].size() < 2) continue;  // nothing to move
    if (const auto done = refuse_other_size(groups[g], verdict->ranks); !done) {
      return in_group(done.errors().front(), g, groups[g], file);
    }
    auto part = fabrics.of(groups[g]);
    if (!part) return in_group(part.errors().front(), g, groups[g], file);
    part->limits.clear();  // the whole fabric has them
    // Errors are of one group.
    made.schedules.push_back({*std::move(part), std::string(text),
                              fmt::format("{}: {}", file, group_in_words(g, groups[g]))});
    operation.schedules.push_back({groups[g], file, ""});
  }
  operation.name =
      name_in_groups(operation.collective, *with.options.groups.groups, operation.schedules.size());
  made.step.name = operation.name;
  made.step.operations.push_back(std::move(operation));
  if (auto done = add_rate(made.step, groups, *verdict, with); !done) return done.errors();
  return made;
}

}  // namespace

Expected<ExitCode> simulate_job(std::string_view text, const std::vector<std::int64_t>& sizes,
                                const JobSimulation& with) {
  const auto job = read_written_job(text, with.options.schedule);
  if (!job) return job.errors();
  std::vector<SimulatedStep> steps;
  for (const WrittenStep& step : *job) {
    const auto files = StepSchedules::read(step, with.options.reading, with.console);
    if (!files) return files.errors();
    auto simulated = simulate_step(step, *files, sizes, with);
    if (!simulated) return simulated.errors();
    steps.push_back(*std::move(simulated));
  }
  return write_report(steps, with);
}

Expected<ExitCode> simulate_in_groups(std::string_view text, const std::vector<std::int64_t>& sizes,
                                      const JobSimulation& with) {
  const auto groups = groups_of(with.options.groups, with.fabric.topology.ranks.size());
  if (!groups) return groups.errors();
  auto made = step_of(text, *groups, with);
  if (!made) return made.errors();
  const auto files = StepSchedules::of(std::move(made->schedules));
  auto simulated = simulate_step(made->step, files, sizes, with);
  if (!simulated) return simulated.errors();
  return write_report({*std::move(simulated)}, with);
}

}  // namespace forestcoll::cli
