// The part of a fabric that trees can use, with pass-through switches contracted.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "forest/route_table.hpp"
#include "forestcoll/digraph.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"

namespace forestcoll::solver {

/// A multigraph on the network's nodes. A switch between two neighbours only (a NIC) is replaced
/// by an arc per direction with the narrower capacity of its two sides; switches that lead nowhere
/// are dropped; arcs without capacity are left out. Nothing that a tree could use is lost, because
/// a route never turns back at a switch.
struct Core {
  Digraph graph;  ///< may hold parallel arcs
  IdVector<ArcId, Capacity> capacity;
  std::vector<NodeId> compute;  ///< in rank order
  IdVector<NodeId, Rank> rank_of;

  /// The nodes that an arc stands for: those after its tail, up to and with its head.
  [[nodiscard]] std::span<const NodeId> segment(ArcId arc) const {
    const auto begin = static_cast<std::size_t>(segment_begin[arc.index()]);
    const auto end = static_cast<std::size_t>(segment_begin[arc.index() + 1]);
    return std::span(segment_nodes).subspan(begin, end - begin);
  }
  std::vector<NodeId> segment_nodes;
  std::vector<std::int64_t> segment_begin;
};

/// Cost: O(m log m).
[[nodiscard]] Core make_core(const Network& network, const IdVector<ArcId, Capacity>& capacity);

/// The network as it stands, each arc for itself. Cost: O(m).
[[nodiscard]] Core plain_core(const Network& network);

/// Calls `visit(arc)` for every arc of a route in the terms of a core, where SegmentId(a) is core
/// arc a; the last one first.
template <class Visit>
void for_each_arc(const RouteTable& table, Route route, Visit&& visit) {
  visit(ArcId(route.last.value));
  for (PrefixId p = route.prefix; table.segment(p).valid(); p = table.before(p)) {
    visit(ArcId(table.segment(p).value));
  }
}

}  // namespace forestcoll::solver
