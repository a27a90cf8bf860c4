// Maximum flows to one sink after another, where verified sinks become sources.
//
// Every question the solver asks is of one form: does each compute node t receive, from sources
// with given supplies, the whole of a demand D? For one t that is a maximum flow. Two facts make
// the sequence over all t cheap:
//
//  * Once t holds, t may be merged into the source. A cut that is still violated must have t on
//    its source side (a violated cut with t on the sink side would have been t's own), so nothing
//    is missed, and the next flow only has to come from the nearest merged node.
//  * A merged node needs no adjacency: what it could send is added to its successors' direct
//    supply, so that a switch with a thousand merged neighbours is one number.
//
// Flows are found by Dinic's method (1970) grown from the sink backwards, with searches that stop
// as soon as the supply in reach could meet the demand.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "forestcoll/digraph.hpp"
#include "forestcoll/id.hpp"

namespace forestcoll::graph {

class SinkFlow {
 public:
  using Amount = std::int64_t;

  /// Capacities and supplies start at 0. Cost: O(n + m).
  explicit SinkFlow(const Digraph& graph);

  /// Sets all capacities and supplies, forgets flows and merged nodes. Cost: O(n + m).
  /// `capacity` is by ArcId, `supply` by NodeId.
  void reset(std::span<const Amount> capacity, std::span<const Amount> supply);

  /// Changes one capacity or supply. REQUIRES: delta ≥ 0, or no flow in place.
  void add_capacity(ArcId arc, Amount delta);
  void add_supply(NodeId node, Amount delta);

  /// Continues the flow to `sink` until it is `demand` or maximum; true where it is `demand`.
  /// A flow to the same sink goes on from what is there; call `clear_flow` between sinks.
  bool send(NodeId sink, Amount demand);

  /// After `send` returned false: the sink side of the minimum cut, the smallest such set, as
  /// flags by node. After `send` returned true: the sink side of a cut that the flow saturates,
  /// or empty where there is none (the sink could receive more). Cost: O(m).
  std::vector<bool> tight_sink_side(NodeId sink);

  void clear_flow();
  /// Makes `node` a source of unlimited supply. REQUIRES: no flow in place.
  void merge(NodeId node);
  [[nodiscard]] bool is_merged(NodeId node) const { return merged_[node.index()]; }

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
  [[nodiscard]] Amount supply_left(std::size_t v) const { return supply_[v] - used_[v]; }
  bool label(std::size_t sink, Amount wanted);
  Amount pull(std::size_t sink, Amount wanted);

  std::vector<HalfArc> half_arcs_;
  std::vector<std::int32_t> begin_;
  std::vector<std::int32_t> tail_, head_;
  std::vector<Amount> capacity_, flow_;
  std::vector<Amount> supply_, used_;
  std::vector<bool> merged_;
  std::vector<std::int32_t> level_, next_half_;
  std::vector<std::int32_t> queue_;
  std::vector<std::int32_t> path_;
  std::vector<std::int32_t> touched_arcs_, touched_nodes_;
  Amount sent_ = 0;
};

}  // namespace forestcoll::graph
