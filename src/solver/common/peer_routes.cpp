#include "solver/common/peer_routes.hpp"

namespace forestcoll::solver {

PeerRoutes::PeerRoutes(const Network& network, NodeId peer)
    : network_(network),
      graph_(network.graph),
      distance_(graph_.node_count(), kNoWay),
      width_(graph_.node_count(), 0) {
  distance_[peer] = 0;
  width_[peer] = std::numeric_limits<Capacity>::max();
  near_to_far_.push_back(peer);
  for (std::size_t i = 0; i < near_to_far_.size(); ++i) {
    const NodeId v = near_to_far_[i];
    if (v != peer) width_[v] = total_width(v);
    if (v != peer && network.is_compute(v)) continue;
    for (const ArcId a : graph_.in(v)) {
      const NodeId u = graph_.tail(a);
      if (distance_[u] != kNoWay) continue;
      distance_[u] = distance_[v] + 1;
      near_to_far_.push_back(u);
    }
  }
}

Capacity PeerRoutes::total_width(NodeId v) const {
  Capacity total = 0;
  visit_next(v, [&](ArcId a) { total += width(a); });
  return total;
}

}  // namespace forestcoll::solver
