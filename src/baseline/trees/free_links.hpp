// Links that are used up within a time step: what the greedy algorithms match with.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "baseline/path_finder.hpp"
#include "forestcoll/network.hpp"

namespace forestcoll::baseline {

/// In a time step an arc carries as many chunks as it is times as fast as the slowest, rounded
/// down.
class FreeLinks {
 public:
  explicit FreeLinks(const Network& network)
      : network_(network),
        slots_(network.graph.arc_count()),
        before_(network.graph.node_count()),
        seen_(network.graph.node_count(), 0) {
    const Capacity slowest = *std::min_element(network.capacity.begin(), network.capacity.end());
    for (std::size_t a = 0; a < slots_.size(); ++a) {
      slots_[ArcId(a)] = network.capacity[ArcId(a)] / slowest;
    }
    free_ = slots_;
  }

  void next_step() { free_ = slots_; }

  /// The nearest rank that `accept`s, from `rank` over free arcs and switches: the path to it, in
  /// the direction of the data, which is taken. Empty where there is none. `into`: from it to
  /// `rank` instead.
  template <class Accept>
  Path take_nearest(Rank rank, bool into, Accept accept) {
    const NodeId start = network_.ranks[rank.index()];
    ++search_;
    queue_.assign(1, start);
    seen_[start] = search_;
    for (std::size_t at = 0; at < queue_.size(); ++at) {
      const NodeId v = queue_[at];
      NodeId found;
      const auto visit = [&](ArcId a, NodeId next) {
        if (found.valid() || free_[a] == 0 || seen_[next] == search_) return;
        seen_[next] = search_;
        before_[next] = v;
        if (!network_.is_compute(next)) {
          queue_.push_back(next);
        } else if (accept(network_.rank_of[next])) {
          found = next;
        }
      };
      const Digraph& graph = network_.graph;
      if (into) {
        for (const ArcId a : graph.in(v)) visit(a, graph.tail(a));
      } else {
        for (ArcId a = graph.first_out(v); a != graph.last_out(v); ++a.value) {
          visit(a, graph.head(a));
        }
      }
      if (found.valid()) return taken(start, found, into);
    }
    return {};
  }

 private:
  Path taken(NodeId start, NodeId end, bool into) {
    Path path;
    for (NodeId v = end; v != start; v = before_[v]) path.push_back(v);
    path.push_back(start);
    if (!into) std::reverse(path.begin(), path.end());
    for (const ArcId a : arcs_of(network_, path)) --free_[a];
    return path;
  }

  const Network& network_;
  IdVector<ArcId, std::int64_t> slots_, free_;
  IdVector<NodeId, NodeId> before_;
  IdVector<NodeId, std::int64_t> seen_;  ///< the last search that reached it
  std::int64_t search_ = 0;
  std::vector<NodeId> queue_;
};

}  // namespace forestcoll::baseline
