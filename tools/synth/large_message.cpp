#include "synth/large_message.hpp"

#include <algorithm>
#include <cstdint>

#include "forestcoll/emit.hpp"
#include "forestcoll/estimate.hpp"
#include "forestcoll/simulate.hpp"

namespace forestcoll::cli {
namespace {

constexpr std::int64_t large_message = std::int64_t{1} << 30;
constexpr std::int64_t most_operations = 5'000'000;

class Timer {
 public:
  Timer(const Fabric& fabric, const SynthRequest& request) : fabric_(fabric), request_(request) {}

  [[nodiscard]] double estimate(const CollectiveForest& forest, const Schedule& schedule) const {
    const auto& models = protocol_models();
    const auto model = std::ranges::find(models, request_.xml.protocol, &ProtocolModel::name);
    return estimated_seconds(schedule, pair_latencies(forest, fabric_.topology),
                             forest.algbw.to_double(), *model, static_cast<double>(large_message));
  }

  // The estimate does not see links that several threadblocks share for a while, nor threadblocks
  // that wait in the midst of their steps; where threadblocks are merged, that decides.
  [[nodiscard]] std::optional<double> simulate(const CollectiveForest& forest,
                                               const Schedule& schedule) const {
    return large_message_time(to_msccl_xml(schedule, forest, fabric_.topology, request_.xml),
                              fabric_);
  }

 private:
  const Fabric& fabric_;
  const SynthRequest& request_;
};

}  // namespace

std::optional<double> large_message_time(const std::string& schedule, const Fabric& fabric) {
  const auto parameters = find_simulation_parameters(fabric.gpu.name);
  if (!parameters) return std::nullopt;
  const auto simulator = prepare_simulation(schedule, "the schedule", fabric.topology);
  if (!simulator) return std::nullopt;
  const auto run =
      simulator->run({large_message}, *parameters, {.max_events = most_operations, .threads = 1});
  if (!run) return std::nullopt;
  return run->times.front().seconds;
}

LargeMessageTimes large_message_times(const std::vector<Synthesis>& candidates,
                                      const Fabric& fabric, const SynthRequest& request) {
  const Timer timer(fabric, request);
  std::vector<std::optional<Schedule>> schedules;
  for (const Synthesis& each : candidates) {
    auto schedule = lower(each.forest, request.lowering);
    schedules.push_back(schedule ? std::optional(*std::move(schedule)) : std::nullopt);
  }
  const auto times_by = [&](auto&& seconds_of) {
    std::vector<std::optional<double>> times(candidates.size());
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (schedules[i]) times[i] = seconds_of(candidates[i].forest, *schedules[i]);
    }
    return times;
  };
  const auto fit = std::ranges::count_if(schedules, [](const auto& s) { return s.has_value(); });
  LargeMessageTimes result;
  if (fit > 1) {
    result.seconds = times_by([&](const auto& f, const auto& s) { return timer.simulate(f, s); });
    const auto known = std::ranges::count_if(result.seconds, [](auto t) { return t.has_value(); });
    if (known == fit) return result;
  }
  result.simulated = false;
  result.seconds = times_by([&](const auto& f, const auto& s) { return timer.estimate(f, s); });
  return result;
}

}  // namespace forestcoll::cli
