#include "fastest/time_costs.hpp"

#include <algorithm>
#include <limits>

namespace forestcoll::fastest {
namespace {

SimulationParameters without_threadblocks(SimulationParameters parameters) {
  for (ProtocolParameters* each : {&parameters.simple, &parameters.ll, &parameters.ll128}) {
    each->step_us = 0;
    each->threadblock_gbs = each->reduction_gbs = std::numeric_limits<double>::infinity();
  }
  return parameters;
}

SimulationParameters without_latencies(SimulationParameters parameters) {
  parameters.hop_us = parameters.link_latency_part = 0;
  for (ProtocolParameters* each : {&parameters.simple, &parameters.ll, &parameters.ll128}) {
    each->message_us = each->network_message_us = 0;
  }
  return parameters;
}

// What a run takes, and its busiest link in it.
struct Taken {
  double seconds = 0, busiest = 0;
};

// Nothing is slower for costing less, but for what rounding and fair shares make of it.
Taken taken(const Simulator& simulator, std::int64_t bytes, const SimulationParameters& parameters,
            double most) {
  const auto run = simulator.run({bytes}, parameters, {.threads = 1});
  if (!run) return {most, 0};
  Taken result{std::min(most, run->times.front().seconds), 0};
  for (const LinkUse& link : run->links) {
    result.busiest = std::max(result.busiest, link.busy * run->times.front().seconds);
  }
  result.busiest = std::min(result.busiest, result.seconds);
  return result;
}

}  // namespace

TimeCosts time_costs(const Simulator& simulator, std::int64_t bytes, double seconds,
                     const SimulationParameters& parameters) {
  const SimulationParameters at_once = without_threadblocks(parameters);
  const Taken moving = taken(simulator, bytes, at_once, seconds);
  const Taken waiting = taken(simulator, bytes, without_latencies(at_once), moving.seconds);
  return {.links = waiting.busiest,
          .waiting = waiting.seconds - waiting.busiest,
          .latencies = moving.seconds - waiting.seconds,
          .threadblocks = seconds - moving.seconds};
}

}  // namespace forestcoll::fastest
