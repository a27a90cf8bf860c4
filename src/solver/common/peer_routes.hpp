// The routes that a runtime is taken to use, which is told of peers and not of links.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "forestcoll/digraph.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"

namespace forestcoll::solver {

/// To one compute node, with the fewest hops through switches alone: from a compute node over the
/// widest of them, from a switch over all. A route is as wide as the least capacity from there on.
/// Cost: O(n + m).
class PeerRoutes {
 public:
  PeerRoutes(const Network& network, NodeId peer);

  [[nodiscard]] bool lead_from(NodeId v) const { return distance_[v] != kNoWay; }
  /// Hops to the peer. REQUIRES: routes lead from there.
  [[nodiscard]] std::int32_t hops_from(NodeId v) const { return distance_[v]; }
  /// All nodes that routes lead from, by hops; the peer is the first.
  [[nodiscard]] std::span<const NodeId> near_to_far() const { return near_to_far_; }
  [[nodiscard]] Capacity width(ArcId a) const {
    return std::min(network_.capacity[a], width_[graph_.head(a)]);
  }
  /// The arcs by which the routes from `v` go on.
  template <class Visit>
  void visit_taken(NodeId v, Visit visit) const {
    Capacity widest = 0;
    visit_next(v, [&](ArcId a) { widest = std::max(widest, width(a)); });
    visit_next(v, [&](ArcId a) {
      if (!network_.is_compute(v) || width(a) == widest) visit(a);
    });
  }

 private:
  static constexpr std::int32_t kNoWay = std::numeric_limits<std::int32_t>::max();

  template <class Visit>
  void visit_next(NodeId v, Visit visit) const {
    for (ArcId a = graph_.first_out(v); a != graph_.last_out(v); ++a.value) {
      const NodeId w = graph_.head(a);
      if (distance_[w] == kNoWay || distance_[w] + 1 != distance_[v]) continue;
      if (distance_[w] == 0 || !network_.is_compute(w)) visit(a);
    }
  }
  [[nodiscard]] Capacity total_width(NodeId v) const;

  const Network& network_;
  const Digraph& graph_;
  IdVector<NodeId, std::int32_t> distance_;
  IdVector<NodeId, Capacity> width_;
  std::vector<NodeId> near_to_far_;
};

}  // namespace forestcoll::solver
