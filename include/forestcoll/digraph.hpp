// An immutable digraph in compressed sparse rows. Capacities and names live outside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "forestcoll/id.hpp"

namespace forestcoll {

struct Arc {
  NodeId tail, head;
  bool operator==(const Arc&) const = default;
};

/// Nodes 0 … n−1 and arcs 0 … m−1, numbered in order of (tail, head, order given): the arcs that
/// leave a node are consecutive. Parallel arcs are allowed, self-loops are not.
class Digraph {
 public:
  Digraph() = default;
  /// REQUIRES: every end is below `nodes`. `arcs` are given in any order; `order[i]`, if asked
  /// for, is the position in `arcs` of the arc that became ArcId(i). Cost: O(n + m log m).
  Digraph(std::size_t nodes, std::span<const Arc> arcs, std::vector<std::size_t>* order = nullptr);

  [[nodiscard]] std::size_t node_count() const {
    return out_begin_.empty() ? 0 : out_begin_.size() - 1;
  }
  [[nodiscard]] std::size_t arc_count() const { return arcs_.size(); }
  [[nodiscard]] NodeId tail(ArcId a) const { return arcs_[a.index()].tail; }
  [[nodiscard]] NodeId head(ArcId a) const { return arcs_[a.index()].head; }

  /// The arcs that leave `v` are first_out(v) … first_out(v + 1) − 1.
  [[nodiscard]] ArcId first_out(NodeId v) const { return ArcId(out_begin_[v.index()]); }
  [[nodiscard]] ArcId last_out(NodeId v) const { return ArcId(out_begin_[v.index() + 1]); }
  /// The first of the arcs from `tail` to `head`; parallel ones follow it. Invalid: none.
  /// Cost: O(log degree).
  [[nodiscard]] ArcId find(NodeId tail, NodeId head) const;
  /// The arcs that enter `v`, by tail.
  [[nodiscard]] std::span<const ArcId> in(NodeId v) const {
    return {in_.data() + in_begin_[v.index()], in_.data() + in_begin_[v.index() + 1]};
  }
  [[nodiscard]] std::span<const Arc> arcs() const { return arcs_; }

 private:
  std::vector<Arc> arcs_;
  std::vector<std::int32_t> out_begin_;
  std::vector<std::int32_t> in_begin_;
  std::vector<ArcId> in_;
};

}  // namespace forestcoll
