#include "choose/candidate_times.hpp"

#include <algorithm>

#include "forestcoll/estimate.hpp"
#include "forestcoll/large_message.hpp"

namespace forestcoll::choose {
namespace {

class Timer {
 public:
  Timer(const Fabric& fabric, const CompileOptions& options) : fabric_(fabric), options_(options) {}

  [[nodiscard]] double estimate(const CollectiveForest& forest, const Schedule& schedule) const {
    const auto& models = protocol_models();
    const auto model = std::ranges::find(models, options_.xml.protocol, &ProtocolModel::name);
    return estimated_seconds(schedule, pair_latencies(forest, fabric_.topology),
                             forest.algbw.to_double(), *model, static_cast<double>(kLargeMessage));
  }

  // The estimate does not see links that several threadblocks share for a while, nor threadblocks
  // that wait in the midst of their steps; where threadblocks are merged, that decides.
  [[nodiscard]] std::optional<double> simulate(const CollectiveForest& forest,
                                               const Schedule& schedule) const {
    const std::stop_token& stop = options_.synthesis.packing.stop;
    if (stop.stop_requested()) return std::nullopt;
    return large_message_time(to_msccl_xml(schedule, forest, fabric_.topology, options_.xml),
                              fabric_, stop);
  }

 private:
  const Fabric& fabric_;
  const CompileOptions& options_;
};

}  // namespace

CandidateTimes candidate_times(const std::vector<FittedForest>& candidates, const Fabric& fabric,
                               const CompileOptions& options) {
  const Timer timer(fabric, options);
  const auto times_by = [&](auto&& seconds_of) {
    std::vector<std::optional<double>> times(candidates.size());
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const ChosenForest& each = candidates[i].chosen;
      if (each.schedule) times[i] = seconds_of(each.synthesis.forest, *each.schedule);
    }
    return times;
  };
  const auto fit = std::ranges::count_if(
      candidates, [](const FittedForest& c) { return c.chosen.schedule.has_value(); });
  CandidateTimes result;
  if (fit > 1) {
    result.seconds = times_by([&](const auto& f, const auto& s) { return timer.simulate(f, s); });
    const auto known = std::ranges::count_if(result.seconds, [](auto t) { return t.has_value(); });
    if (known == fit) return result;
  }
  result.simulated = false;
  result.seconds = times_by([&](const auto& f, const auto& s) { return timer.estimate(f, s); });
  return result;
}

}  // namespace forestcoll::choose
