// Making routes out of arcs, prefixes shared.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>

#include "forest/route_table.hpp"
#include "solver/common/core.hpp"

namespace forestcoll::solver {

/// Whether these arcs, one after the other, lead to no node twice.
[[nodiscard]] bool is_simple(const Digraph& graph, std::span<const ArcId> arcs);

/// Adds routes to a table whose SegmentId(a) is core arc a; equal prefixes get one id.
class RouteMaker {
 public:
  RouteMaker(const Core& core, RouteTable& table) : core_(core), table_(table) {}

  /// Makes the prefixes of these routes known, so that new routes share them.
  void note(std::span<const Route> routes);
  /// The route along these arcs, from a rank through switches to a rank.
  [[nodiscard]] Route along(std::span<const ArcId> arcs);
  /// The prefix and one more arc.
  [[nodiscard]] PrefixId extended(PrefixId prefix, ArcId arc);

 private:
  const Core& core_;
  RouteTable& table_;
  std::unordered_map<std::uint64_t, PrefixId> prefix_of_;
};

}  // namespace forestcoll::solver
