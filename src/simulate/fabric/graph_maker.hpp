// What the makers of event graphs share: flows and delays of routes under given parameters.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "forestcoll/simulate.hpp"
#include "simulate/fabric/event_graph.hpp"
#include "simulate/fabric/fabric.hpp"

namespace forestcoll::simulate {

/// Passes for so many bytes of a chunk; a rest of rounding is none.
[[nodiscard]] inline std::int64_t passes_for(double chunk_bytes, double pass_bytes) {
  return std::max<std::int64_t>(1, std::llround(std::ceil(chunk_bytes / pass_bytes - 1e-9)));
}

class GraphMaker {
 public:
  GraphMaker(const Fabric& fabric, const SimulationParameters& parameters,
             const ProtocolParameters& protocol)
      : fabric_(fabric),
        hop_us_(parameters.hop_us),
        link_latency_part_(parameters.link_latency_part),
        in_network_efficiency_(parameters.in_network_efficiency),
        protocol_(protocol) {}

  EventGraph graph;

  [[nodiscard]] const ProtocolParameters& protocol() const { return protocol_; }

  /// The kind of flows over a route of which each moves at most `gbs` of data.
  [[nodiscard]] std::int32_t kind(std::int32_t route, double gbs) {
    const auto next = static_cast<std::int32_t>(graph.kinds.size());
    const auto [at, is_new] = kinds_.emplace(std::pair(route, gbs), next);
    if (is_new) {
      graph.kinds.push_back({fabric_.route(route).parts, most_on_links(route, gbs)});
    }
    return at->second;
  }
  /// The kind of flows that are done by so many workers, each by no more than one.
  [[nodiscard]] std::int32_t work_kind(double workers) {
    const std::size_t link = fabric_.capacity().size() + graph.workers.size();
    graph.workers.push_back(workers);
    graph.kinds.push_back({{{static_cast<std::int32_t>(link), 1}}, 1});
    return static_cast<std::int32_t>(graph.kinds.size() - 1);
  }
  /// What links carry for so many bytes of data.
  [[nodiscard]] double on_links(double bytes) const { return bytes / protocol_.efficiency; }
  /// What links of this route carry in a second of a flow that moves `gbs` of data.
  [[nodiscard]] double most_on_links(std::int32_t route, double gbs) const {
    return gbs * 1e9 / efficiency(route);
  }
  /// What links of this route carry for so many bytes of data.
  [[nodiscard]] double on_route(std::int32_t route, double bytes) const {
    return bytes / efficiency(route);
  }
  /// From the end of a send over the route until the receiver sees it, seconds.
  [[nodiscard]] double delay(std::int32_t number) const { return delay(number, protocol_); }
  /// The same by another protocol.
  [[nodiscard]] double delay(std::int32_t number, const ProtocolParameters& protocol) const {
    const SimulatedRoute& route = fabric_.route(number);
    const double message = route.between_boxes ? protocol.network_message_us : protocol.message_us;
    return (message + route.latency_us * link_latency_part_ + route.hops * hop_us_) * 1e-6;
  }
  [[nodiscard]] double step() const { return protocol_.step_us * 1e-6; }
  /// Of a threadblock that copies, or adds, beside the step.
  [[nodiscard]] double copying(double bytes) const {
    return bytes / (protocol_.threadblock_gbs * 1e9);
  }
  [[nodiscard]] double adding(double bytes) const { return bytes / (adding_gbs() * 1e9); }
  [[nodiscard]] double adding_gbs() const {
    return std::min(protocol_.threadblock_gbs, protocol_.reduction_gbs);
  }

 private:
  [[nodiscard]] double efficiency(std::int32_t route) const {
    return fabric_.route(route).in_network ? in_network_efficiency_ : protocol_.efficiency;
  }

  const Fabric& fabric_;
  double hop_us_, link_latency_part_, in_network_efficiency_;
  const ProtocolParameters& protocol_;
  std::map<std::pair<std::int32_t, double>, std::int32_t> kinds_;
};

}  // namespace forestcoll::simulate
