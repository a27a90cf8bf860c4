#include "compare/closed_form.hpp"

#include <algorithm>

namespace forestcoll::cli {
namespace {

// µs of the slowest link between a GPU and a switch that combines.
double slowest_link(const Topology& topology) {
  const auto combines = [&](NodeId node) {
    return topology.nodes[node].multicast && topology.nodes[node].reduce;
  };
  double slowest = 0;
  for (const TopologyLink& link : topology.links) {
    if (!link.enabled || (!combines(link.src) && !combines(link.dst))) continue;
    slowest = std::max(slowest, link.latency.to_double());
  }
  return slowest;
}

}  // namespace

std::vector<SimulatedTime> nvls_times(const Fabric& fabric, const Ratio& algbw,
                                      const SimulationParameters& parameters,
                                      const std::vector<std::int64_t>& sizes) {
  constexpr double messages = 2, links_each = 2;
  const ProtocolParameters& simple = parameters.simple;
  const double link_us = slowest_link(fabric.topology) + parameters.hop_us;
  const double alpha_us = messages * (simple.step_us + simple.message_us + links_each * link_us);
  const double bytes_per_us = algbw.to_double() * simple.efficiency * 1e3;
  const auto ranks = static_cast<std::int64_t>(fabric.topology.ranks.size());
  const double factor = busbw_factor(Collective::allreduce, ranks).to_double();
  std::vector<SimulatedTime> times;
  for (const std::int64_t size : sizes) {
    const auto bytes = static_cast<double>(size);
    const double seconds = (alpha_us + bytes / bytes_per_us) * 1e-6;
    const double reached = bytes / seconds * 1e-9;
    times.push_back({bytes, seconds, reached, reached * factor});
  }
  return times;
}

}  // namespace forestcoll::cli
