#include <cstdint>

#include "choose/candidate_times.hpp"
#include "forestcoll/fabric.hpp"
#include "forestcoll/simulate.hpp"

namespace forestcoll {
namespace {

constexpr std::int64_t kMostOperations = 5'000'000;

}  // namespace

std::optional<double> large_message_time(std::string_view schedule, const Fabric& fabric,
                                         const std::stop_token& stop) {
  return simulated_time(schedule, fabric, choose::kLargeMessage, stop);
}

std::optional<double> simulated_time(std::string_view schedule, const Fabric& fabric,
                                     std::int64_t bytes, const std::stop_token& stop) {
  const auto parameters = find_simulation_parameters(fabric.gpu.name);
  if (!parameters) return std::nullopt;
  const auto simulator = prepare_simulation(schedule, "the schedule", fabric.topology);
  if (!simulator) return std::nullopt;
  const auto run = simulator->run({bytes}, *parameters,
                                  {.stop = stop, .max_events = kMostOperations, .threads = 1});
  if (!run) return std::nullopt;
  return run->times.front().seconds;
}

}  // namespace forestcoll
