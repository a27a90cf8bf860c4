#include "choose/candidate_times.hpp"

#include <tbb/parallel_for.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "choose/plan_file.hpp"
#include "choose/plan_shapes.hpp"
#include "choose/schedule_program.hpp"
#include "forestcoll/fabric.hpp"
#include "forestcoll/failures.hpp"
#include "forestcoll/search_scale.hpp"
#include "simulate/fabric/fabric.hpp"
#include "simulate/prepare_program.hpp"

namespace forestcoll {
namespace {

std::optional<double> seconds_of(const Expected<Simulator>& simulator, const Fabric& fabric,
                                 std::int64_t bytes, SimulationOptions limits) {
  const auto parameters = find_simulation_parameters(fabric.gpu.name);
  if (!simulator || !parameters) return std::nullopt;
  limits.threads = 1;
  const auto run = simulator->run({bytes}, *parameters, limits);
  if (!run) return std::nullopt;
  return run->times.front().seconds;
}

// For `kLargeMessage`.
std::optional<double> program_seconds(const Schedule& schedule, const std::string& protocol,
                                      const Fabric& fabric, const std::stop_token& stop) {
  auto links = simulate::Fabric::make(without_relays(fabric.topology));
  if (!links) return std::nullopt;
  audit::Program program = choose::program_of(schedule);
  program.protocol = protocol;
  auto prepared = simulate::prepare_program(std::move(program), fabric.topology, *std::move(links));
  if (!prepared) return std::nullopt;
  return seconds_of(std::move(prepared->simulator), fabric, kLargeMessage,
                    {.stop = stop, .max_events = scale::kMostEventsOfTrees});
}

}  // namespace

std::optional<double> simulated_time(std::string_view schedule, const Fabric& fabric,
                                     std::int64_t bytes, const std::stop_token& stop) {
  return choose::seconds_within(schedule, fabric, bytes,
                                {.stop = stop, .max_events = scale::kMostEventsOfTrees});
}

std::optional<double> choose::seconds_within(std::string_view schedule, const Fabric& fabric,
                                             std::int64_t bytes, const SimulationOptions& limits) {
  return seconds_of(prepare_simulation(schedule, "the schedule", fabric.topology), fabric, bytes,
                    limits);
}

std::optional<double> choose::plan_seconds(const ExecutionPlan& plan, const Fabric& fabric,
                                           std::int64_t bytes, const std::stop_token& stop,
                                           double most_seconds) {
  auto links = simulate::Fabric::make(without_relays(fabric.topology));
  if (!links) return std::nullopt;
  return seconds_of(
      simulate::prepare_plan(plan_file_of(plan), plan.collective, fabric.topology,
                             *std::move(links)),
      fabric, bytes,
      {.stop = stop, .most_seconds = most_seconds, .max_events = scale::kMostEventsOfTrees});
}

std::optional<double> choose::candidate_time(const ChosenForest& candidate, const Fabric& fabric,
                                             const CompileOptions& options) {
  const std::stop_token& stop = options.synthesis.packing.stop;
  if (options.format != Format::mscclpp) {
    return program_seconds(*candidate.schedule, options.xml.protocol, fabric, stop);
  }
  const auto timed = plan_for_large_messages(candidate.synthesis.forest, fabric, options);
  if (!timed) return std::nullopt;
  if (timed->seconds) return timed->seconds;
  return plan_seconds(timed->plan, fabric, kLargeMessage, stop);
}

std::optional<std::vector<double>> choose::candidate_times(
    const std::vector<FittedForest>& candidates, const Fabric& fabric,
    const CompileOptions& options) {
  const std::stop_token& stop = options.synthesis.packing.stop;
  std::vector<std::optional<double>> found(candidates.size());
  tbb::parallel_for(std::size_t{0}, candidates.size(), [&](std::size_t c) {
    if (stop.stop_requested()) return;
    found[c] = candidate_time(candidates[c].chosen, fabric, options);
  });
  std::vector<double> times;
  for (const std::optional<double>& seconds : found) {
    if (!seconds) return std::nullopt;
    times.push_back(*seconds);
  }
  return times;
}

}  // namespace forestcoll
