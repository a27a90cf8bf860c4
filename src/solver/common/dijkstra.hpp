// Shortest routes from one node to the others (Dijkstra 1959), over the arcs and lengths that the
// caller says.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "forestcoll/id.hpp"

namespace forestcoll::solver {

/// A search that can be run again and again; its lists keep their memory. Of routes of the same
/// length it keeps the one that it finds first.
class Dijkstra {
 public:
  /// The distance of what is not reached; another one can be added to it.
  static constexpr std::int64_t kUnreached = std::numeric_limits<std::int64_t>::max() / 2;

  /// Calls `expand(v, distance)` for the source and what is reached from it, by distance, until
  /// that returns false. It in turn calls `reach` for every arc by which routes go on from v.
  /// REQUIRES: no length is negative. Cost: O(m log m) for m calls of `reach`.
  template <class Expand>
  void run(std::size_t nodes, NodeId source, Expand&& expand) {
    distance_.assign(nodes, kUnreached);
    by_.assign(nodes, ArcId());
    reached_.clear();
    distance_[source.index()] = 0;
    heap_.assign(1, {0, source});
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
      const auto [distance, v] = heap_.back();
      heap_.pop_back();
      if (distance > distance_[v.index()]) continue;
      reached_.push_back(v);
      if (!expand(v, distance)) return;
    }
  }

  /// There is a route to `node` that ends with the arc `by`, of length `distance`.
  void reach(NodeId node, ArcId by, std::int64_t distance) {
    if (distance >= distance_[node.index()]) return;
    distance_[node.index()] = distance;
    by_[node.index()] = by;
    heap_.emplace_back(distance, node);
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }

  [[nodiscard]] std::int64_t distance(NodeId v) const { return distance_[v.index()]; }
  /// The last arc of the route to `v`; invalid for the source and what is not reached.
  [[nodiscard]] ArcId by(NodeId v) const { return by_[v.index()]; }
  /// What was expanded, by distance, the source first.
  [[nodiscard]] const std::vector<NodeId>& reached() const { return reached_; }

 private:
  std::vector<std::int64_t> distance_;  ///< by node
  std::vector<ArcId> by_;               ///< by node
  std::vector<NodeId> reached_;
  std::vector<std::pair<std::int64_t, NodeId>> heap_;
};

}  // namespace forestcoll::solver
