// Trees inside of boxes whose ranks do not all have links to one another that carry stars.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "forestcoll/ratio.hpp"
#include "solver/common/boxes.hpp"
#include "solver/common/core.hpp"
#include "solver/flat/box_routes.hpp"
#include "solver/low/low_trees.hpp"

namespace forestcoll::solver {

/// A tree that reaches all ranks of a box from one of them, by members of the box in their order.
struct InsideTree {
  std::vector<Rank> parent;  ///< invalid at the root
  std::vector<ArcRow> ways;  ///< between parent and rank, in the direction of the core's arcs
  std::int64_t trees = 0;
};

/// A tree of one kind of box, in its own numbers.
struct LocalTree {
  LowTree tree;
  std::int64_t trees = 0;
};

/// What was found for boxes and what enters them, or that there is nothing.
using InsideKnown = std::map<std::vector<std::int64_t>, std::optional<std::vector<LocalTree>>>;

/// By rank: the trees from it, in all as many as were asked for.
using InsideTrees = std::vector<std::vector<InsideTree>>;

/// What trees inside of boxes are for.
struct InsideNeeds {
  std::vector<std::int64_t> entering;  ///< by rank: trees of the phase at hand
  /// By rank: the most that either phase of an allreduce has. Empty: there is one phase.
  std::vector<std::int64_t> of_either = {};
  Ratio per_capacity;        ///< trees of all phases for each unit of an arc's capacity
  bool is_backward = false;  ///< trees lead to the rank
};

/// For each box trees that low programs (low/low_program.hpp) find, the highest as low as the links
/// allow, and none more hops higher than its root is from the farthest rank than that asks for:
/// from rank r there are `entering[r]` trees at least. Where both directions of all links of a box
/// are alike, the trees of two phases are the same, turned round: a link carries what goes either
/// way along them. Else each phase has a half of it. Boxes that are alike, members in order, have
/// the same. Nothing where some box is too large, has no such trees, or somebody asks to stop.
/// Cost: for each kind of box that is not `known` that of `solve_low` for a few heights.
[[nodiscard]] std::optional<InsideTrees> inside_trees(const Core& core, const Boxes& boxes,
                                                      const InsideNeeds& needs, InsideKnown& known,
                                                      const std::stop_token& stop);

/// By rank: where trees of both phases shall enter boxes, of all that gates carry there (`room`),
/// so that trees inside of them are lower than those of `needs`; or are there at all. Less than
/// nothing in boxes where nothing is gained. `owned`: the trees of each root, of which `all` are as
/// many as reach each box. REQUIRES: `needs` of two phases. Cost: that of `inside_trees`, twice.
[[nodiscard]] std::vector<std::int64_t> lower_entries(const Core& core, const Boxes& boxes,
                                                      const InsideNeeds& needs,
                                                      std::span<const std::int64_t> owned,
                                                      std::span<const std::int64_t> room,
                                                      std::int64_t all, InsideKnown& known,
                                                      const std::stop_token& stop);

}  // namespace forestcoll::solver
