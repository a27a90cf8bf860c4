// The trees whose heights are at issue, and what their routes cost.
#pragma once

#include <cstdint>
#include <vector>

#include "forest/route_table.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"
#include "solver/common/core.hpp"

namespace forestcoll::solver {

/// The trees that a pass works on. It may split a tree into two of the same root, the
/// multiplicity shared out, and then appends a row.
struct TreeRows {
  const Core& core;
  RouteTable& table;  ///< SegmentId(a) is core arc a
  std::vector<Forest::Tree>& trees;
  std::vector<Route>& routes;  ///< `routes[t * N + v]` reaches rank v in tree t
};

/// What the routes of the trees cost. A tree of multiplicity m that uses arc a takes
/// m·weight[a] units of the resource of[a]; what is left of that is residual[of[a]]. For an
/// ordinary forest every arc is its own resource with weight 1. For the base trees of a symmetric
/// forest the arcs of an orbit share one, and `weight` is the number of images of the tree that
/// use the arc, or rather its orbit, per base tree.
struct Resources {
  IdVector<ArcId, ArcId> of;
  IdVector<ArcId, std::int64_t> weight;
  IdVector<ArcId, Capacity> residual;  ///< by resource
};

/// Every arc its own resource, `residual` units of it left.
[[nodiscard]] Resources plain_resources(const IdVector<ArcId, Capacity>& residual);

}  // namespace forestcoll::solver
