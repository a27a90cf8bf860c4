#include "choose/candidate_times.hpp"

#include "forestcoll/fabric.hpp"

namespace forestcoll::choose {

std::optional<std::vector<double>> candidate_times(const std::vector<FittedForest>& candidates,
                                                   const Fabric& fabric,
                                                   const CompileOptions& options) {
  const std::stop_token& stop = options.synthesis.packing.stop;
  std::vector<double> times;
  for (const FittedForest& candidate : candidates) {
    if (stop.stop_requested()) return std::nullopt;
    const ChosenForest& each = candidate.chosen;
    const auto seconds = large_message_time(
        to_msccl_xml(*each.schedule, each.synthesis.forest, fabric.topology, options.xml), fabric,
        stop);
    if (!seconds) return std::nullopt;
    times.push_back(*seconds);
  }
  return times;
}

}  // namespace forestcoll::choose
