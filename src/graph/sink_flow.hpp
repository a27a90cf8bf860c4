// Maximum flows to one sink after another, where verified sinks become sources.
//
// Every question the solver asks is of one form: does each compute node t receive, from sources
// with given supplies, the whole of a demand D? For one t that is a maximum flow. Three facts make
// the sequence over all t cheap:
//
//  * Once t holds, t may be merged into the source. A cut that is still violated must have t on
//    its source side (a violated cut with t on the sink side would have been t's own), so nothing
//    is missed, and the next flow only has to come from the nearest merged node.
//  * A merged node needs no adjacency: what it could send is added to its successors' excess, so
//    that a switch with a thousand merged neighbours is one number.
//  * The flow that went into t need not be thrown away. Cut off before its last arc it is excess
//    at t's neighbours, that is a preflow (Goldberg, Tarjan 1988) to start the next sink from: the
//    demand is gathered from all over the fabric once, and then handed from sink to sink. (Hao and
//    Orlin 1994 do the same for push-relabel.)
//
// Augmentation is Dinic's (1970), grown from the sink backwards, with searches that stop as soon
// as the excess in reach could meet the demand.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "forestcoll/digraph.hpp"
#include "forestcoll/id.hpp"

namespace forestcoll::graph {

// Several stand side by side, one per thread: what one of them writes shall share no line of the
// cache with what another reads.
class alignas(128) SinkFlow {
 public:
  using Amount = std::int64_t;

  /// Capacities and supplies start at 0. Cost: O(n + m).
  explicit SinkFlow(const Digraph& graph);

  /// Sets all capacities (by ArcId) and supplies (by NodeId), forgets flow and merged nodes.
  /// Cost: O(n + m).
  void reset(std::span<const Amount> capacity, std::span<const Amount> supply);

  /// Raises one capacity; the flow in place stays. REQUIRES: delta ≥ 0.
  void add_capacity(ArcId arc, Amount delta);

  /// Sends to `sink` until it has received `demand` or no more gets through; true where it has
  /// `demand`. A second call for the same sink goes on from the first; merge a sink before the
  /// next one.
  bool send(NodeId sink, Amount demand);

  /// The sink side, as flags by node, of the smallest cut that `send` has saturated: after false,
  /// the violated minimum cut; after true, a tight cut, or empty where the sink could receive
  /// more. Cost: O(m).
  std::vector<bool> tight_sink_side(NodeId sink);

  /// Makes `node` a source of unlimited supply.
  void merge(NodeId node);
  [[nodiscard]] bool is_merged(NodeId node) const { return merged_[node.index()]; }

  /// The work so far, of all sinks: how often an arc was looked at.
  [[nodiscard]] std::int64_t arcs_seen() const { return arcs_seen_; }

 private:
  struct HalfArc {
    std::int32_t arc;
    std::int32_t other;  ///< the node at the other end
    bool in;             ///< the arc enters the node whose list this is
  };

  [[nodiscard]] Amount residual(const HalfArc& half) const {
    const auto a = static_cast<std::size_t>(half.arc);
    return half.in ? capacity_[a] - flow_[a] : flow_[a];
  }
  bool label(std::size_t sink, Amount wanted);
  Amount pull(std::size_t sink, Amount wanted);

  std::vector<HalfArc> half_arcs_;
  std::vector<std::int32_t> begin_;
  std::vector<std::int32_t> tail_, head_;
  std::vector<Amount> capacity_, flow_;
  std::vector<Amount> excess_;
  std::vector<bool> merged_;
  std::vector<std::int32_t> level_, next_half_;
  std::vector<std::int32_t> queue_;
  std::vector<std::int32_t> path_;
  Amount received_ = 0;
  std::int64_t arcs_seen_ = 0;
};

}  // namespace forestcoll::graph
