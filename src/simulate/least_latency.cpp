#include "simulate/least_latency.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "forestcoll/latency.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll {
namespace {

// Latencies of links as arcs, by the node that they leave, µs.
using Arcs = IdVector<NodeId, std::vector<std::pair<NodeId, double>>>;

Arcs arcs_of(const Topology& topology, bool backwards, double hop_us) {
  Arcs arcs(topology.nodes.size());
  const auto latencies = link_latencies(topology).us;
  for (std::size_t i = 0; i < topology.links.size(); ++i) {
    const TopologyLink& link = topology.links[LinkId(i)];
    if (!link.enabled) continue;
    const double latency = latencies[LinkId(i)].to_double() + hop_us;
    if (!backwards || link.full_duplex) arcs[link.src].emplace_back(link.dst, latency);
    if (backwards || link.full_duplex) arcs[link.dst].emplace_back(link.src, latency);
  }
  return arcs;
}

class Search {
 public:
  Search(const Topology& topology, bool backwards, double hop_us,
         const ProtocolParameters& protocol)
      : topology_(topology),
        arcs_(arcs_of(topology, backwards, hop_us)),
        box_(boxes_of_nodes(topology)),
        is_rank_(topology.nodes.size(), 0),
        step_us_(protocol.step_us),
        message_us_(has_several_boxes(topology)
                        ? std::min(protocol.message_us, protocol.network_message_us)
                        : protocol.message_us),
        more_between_boxes_us_(protocol.network_message_us - message_us_) {
    for (const NodeId rank : topology.ranks) is_rank_[rank] = 1;
  }

  /// To the rank that takes longest, µs.
  [[nodiscard]] double farthest_from(NodeId source) const {
    IdVector<NodeId, double> reached(arcs_.size(), std::numeric_limits<double>::infinity());
    using Entry = std::pair<double, NodeId>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    reached[source] = step_us_;
    queue.emplace(step_us_, source);
    while (!queue.empty()) {
      const auto [time, node] = queue.top();
      queue.pop();
      if (time > reached[node]) continue;
      for (const auto& [next, latency] : arcs_[node]) {
        const double then = time + latency + (is_rank_[next] != 0 ? message_us_ + step_us_ : 0);
        if (then >= reached[next]) continue;
        reached[next] = then;
        queue.emplace(then, next);
      }
    }
    double farthest = 0;
    for (const NodeId rank : topology_.ranks) {
      if (rank == source) continue;
      const double more = box_[rank] != box_[source] ? more_between_boxes_us_ : 0;
      farthest = std::max(farthest, reached[rank] + more);
    }
    return farthest;
  }

 private:
  const Topology& topology_;
  Arcs arcs_;
  IdVector<NodeId, std::int32_t> box_;
  IdVector<NodeId, char> is_rank_;
  double step_us_, message_us_, more_between_boxes_us_;
};

}  // namespace

double least_latency(const Topology& topology, Collective collective, std::optional<Rank> root,
                     const SimulationParameters& parameters, const ProtocolParameters& protocol) {
  FORESTCOLL_CHECK(is_rooted(collective) == root.has_value(), "a root where needed");
  const bool is_reversed = collective == Collective::reduce || collective == Collective::gather;
  const Search search(topology, is_reversed, parameters.hop_us, protocol);
  std::vector<double> farthest(topology.ranks.size(), 0);
  tbb::parallel_for(std::size_t{0}, farthest.size(), [&](std::size_t r) {
    if (!root || Rank(r) == *root) farthest[r] = search.farthest_from(topology.ranks[r]);
  });
  return *std::ranges::max_element(farthest) * 1e-6;
}

}  // namespace forestcoll
