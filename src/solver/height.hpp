// Lower trees within the same capacities.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "forestcoll/forest.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/pack.hpp"
#include "solver/core.hpp"

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

/// Makes the trees lower where they are higher than `bound`. First by whole forests of stars, of
/// two levels, or of breadth-first trees, where the capacities allow one (height_flat.hpp,
/// height_shortest.hpp). Else edge by edge, the tallest trees first: two trees exchange the ways by
/// which they reach a node, or all that reaches a group of ranks; a rank moves to spare capacity,
/// or to capacity whose user can move in turn (an ejection chain); trees are split where their
/// multiplicities differ; where nothing lowers the tallest, random exchanges that do no harm to
/// them open new ways. Every step keeps the trees spanning, the loads within capacity and the
/// multiplicities per root. Afterwards the trees are in order of their roots, their heights and
/// `resources.residual` right.
///
/// Nothing is done, at O(trees), where no tree is higher than `bound`, and nothing edge by edge
/// where there are too many: 2^21, 2^23, 2^25 by `effort`. Cost: bounded in steps, in proportion
/// to the size of the forest, by `effort`; the result is the same on every machine.
void lower_heights(const TreeRows& rows, Resources& resources, std::int32_t bound, Effort effort,
                   const std::stop_token& stop);

}  // namespace forestcoll::solver
