#include "choose/candidate_times.hpp"

#include <tbb/parallel_for.h>

#include <cstddef>

#include "forestcoll/fabric.hpp"

namespace forestcoll::choose {

std::optional<std::vector<double>> candidate_times(const std::vector<FittedForest>& candidates,
                                                   const Fabric& fabric,
                                                   const CompileOptions& options) {
  const std::stop_token& stop = options.synthesis.packing.stop;
  std::vector<std::optional<double>> found(candidates.size());
  tbb::parallel_for(std::size_t{0}, candidates.size(), [&](std::size_t c) {
    const ChosenForest& each = candidates[c].chosen;
    if (stop.stop_requested()) return;
    found[c] = large_message_time(
        to_msccl_xml(*each.schedule, each.synthesis.forest, fabric.topology, options.xml), fabric,
        stop);
  });
  std::vector<double> times;
  for (const std::optional<double>& seconds : found) {
    if (!seconds) return std::nullopt;
    times.push_back(*seconds);
  }
  return times;
}

}  // namespace forestcoll::choose
