#include "fastest/time_costs.hpp"

#include <tbb/parallel_invoke.h>

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

// What a run takes, and its busiest link in it, or what links share.
struct Taken {
  double seconds = 0, busiest = 0;
};

Taken taken(const Simulator& simulator, std::int64_t bytes, const SimulationParameters& parameters,
            double seconds) {
  const auto run = simulator.run({bytes}, parameters, {.threads = 1});
  if (!run) return {seconds, 0};
  Taken result{run->times.front().seconds, 0};
  for (const LinkUse& link : run->links) {
    result.busiest = std::max(result.busiest, link.busy * result.seconds);
  }
  for (const LimitUse& limit : run->limits) {
    result.busiest = std::max(result.busiest, limit.busy * result.seconds);
  }
  return result;
}

// Nothing is slower for costing less, but for what rounding and fair shares make of it.
Taken no_more_than(double most, const Taken& taken) {
  const double seconds = std::min(most, taken.seconds);
  return {seconds, std::min(taken.busiest, seconds)};
}

}  // namespace

TimeCosts time_costs(const Simulator& simulator, std::int64_t bytes, double seconds,
                     const SimulationParameters& parameters) {
  const SimulationParameters at_once = without_threadblocks(parameters);
  Taken moving, waiting;
  tbb::parallel_invoke(
      [&] { moving = taken(simulator, bytes, at_once, seconds); },
      [&] { waiting = taken(simulator, bytes, without_latencies(at_once), seconds); });
  moving = no_more_than(seconds, moving);
  waiting = no_more_than(moving.seconds, waiting);
  return {.links = waiting.busiest,
          .waiting = waiting.seconds - waiting.busiest,
          .latencies = moving.seconds - waiting.seconds,
          .threadblocks = seconds - moving.seconds};
}

}  // namespace forestcoll::fastest
