#include "choose/candidate_times.hpp"

#include <tbb/parallel_for.h>

#include <cstddef>
#include <cstdint>

#include "choose/artefact.hpp"
#include "choose/plan_shapes.hpp"
#include "forestcoll/emit.hpp"
#include "forestcoll/fabric.hpp"
#include "forestcoll/search_scale.hpp"

namespace forestcoll {

std::optional<double> large_message_time(std::string_view schedule, const Fabric& fabric,
                                         const std::stop_token& stop) {
  return simulated_time(schedule, fabric, choose::kLargeMessage, stop);
}

std::optional<double> simulated_time(std::string_view schedule, const Fabric& fabric,
                                     std::int64_t bytes, const std::stop_token& stop) {
  return choose::seconds_within(schedule, fabric, bytes,
                                {.stop = stop, .max_events = scale::kMostEventsOfTrees});
}

std::optional<double> choose::seconds_within(std::string_view schedule, const Fabric& fabric,
                                             std::int64_t bytes, const SimulationOptions& limits) {
  const auto parameters = find_simulation_parameters(fabric.gpu.name);
  if (!parameters) return std::nullopt;
  const auto simulator = prepare_simulation(schedule, "the schedule", fabric.topology);
  if (!simulator) return std::nullopt;
  SimulationOptions options = limits;
  options.threads = 1;
  const auto run = simulator->run({bytes}, *parameters, options);
  if (!run) return std::nullopt;
  return run->times.front().seconds;
}

std::optional<double> choose::candidate_time(const ChosenForest& candidate, const Fabric& fabric,
                                             const CompileOptions& options) {
  const std::stop_token& stop = options.synthesis.packing.stop;
  const CollectiveForest& forest = candidate.synthesis.forest;
  if (options.format != Format::mscclpp) {
    return large_message_time(
        to_msccl_xml(*candidate.schedule, forest, fabric.topology, options.xml), fabric, stop);
  }
  const auto timed = plan_for_large_messages(forest, fabric, options);
  if (!timed) return std::nullopt;
  if (timed->seconds) return timed->seconds;
  return large_message_time(to_mscclpp_json(timed->plan, plan_name(fabric.topology, forest)),
                            fabric, stop);
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
