// Trees as rows of routes, measured: depths, and how far each node is above its deepest
// descendant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "forest/route_table.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/id.hpp"
#include "solver/common/core.hpp"
#include "solver/height/common/routes.hpp"
#include "solver/height/common/tree_rows.hpp"

namespace forestcoll::solver {

/// A place in a tree: the edge that reaches rank `node` in tree `tree`.
struct TreeEdge {
  std::size_t tree = 0;
  std::size_t node = 0;  ///< the rank
  bool operator==(const TreeEdge&) const = default;
};

/// The rows of a forest under change. Measures are brought up to date when they are asked for.
class HeightRows {
 public:
  explicit HeightRows(const TreeRows& rows);

  [[nodiscard]] std::size_t tree_count() const { return rows_.trees.size(); }
  [[nodiscard]] std::size_t ranks() const { return ranks_; }
  [[nodiscard]] const Core& core() const { return rows_.core; }
  [[nodiscard]] const Forest::Tree& tree(std::size_t t) const { return rows_.trees[t]; }
  [[nodiscard]] Route route(TreeEdge edge) const { return rows_.routes[at(edge)]; }
  [[nodiscard]] std::size_t parent(TreeEdge edge) const {
    return rows_.table.origin(route(edge).prefix).index();
  }

  /// O(1), or O(N) where the tree has changed since it was last measured.
  [[nodiscard]] std::int32_t depth(TreeEdge edge) {
    refresh(edge.tree);
    return depth_[at(edge)];
  }
  /// Edges to the deepest node below.
  [[nodiscard]] std::int32_t below(TreeEdge edge) {
    refresh(edge.tree);
    return below_[at(edge)];
  }
  [[nodiscard]] std::int32_t height(std::size_t t) {
    refresh(t);
    return rows_.trees[t].height;
  }
  /// Is `u` the edge's node or below it?
  [[nodiscard]] bool is_below(TreeEdge edge, std::size_t u);

  /// REQUIRES: the route's origin is not below the edge's node.
  void set_route(TreeEdge edge, Route route);
  /// Exchanges the routes that reach `ranks` between two trees. True where both are trees still;
  /// otherwise they must be exchanged back before anything else is asked.
  bool exchange(std::size_t a, std::size_t b, std::span<const Rank> ranks);
  /// How many nodes are at the depth, or deeper.
  [[nodiscard]] std::size_t count_from(std::size_t t, std::int32_t depth);
  /// Splits a tree of multiplicity `amount` off; returns its place. REQUIRES: less than all.
  std::size_t split(std::size_t tree, std::int64_t amount);
  /// Takes the last split back. REQUIRES: `copy` is the last tree and the same as `tree`.
  void unsplit(std::size_t tree, std::size_t copy);
  /// Joins trees that are the same in all but multiplicity, and puts them in order of their roots.
  void join_equal_trees();

  /// The route along these arcs, from a rank through switches to a rank.
  [[nodiscard]] Route route_along(std::span<const ArcId> arcs) { return maker_.along(arcs); }
  /// What measuring took so far, in ranks looked at.
  [[nodiscard]] std::int64_t steps() const { return steps_; }
  /// Calls `visit(arc)` for every arc of the route.
  template <class Visit>
  void for_each_arc(Route route, Visit&& visit) const {
    solver::for_each_arc(rows_.table, route, std::forward<Visit>(visit));
  }

 private:
  [[nodiscard]] std::size_t at(TreeEdge edge) const { return edge.tree * ranks_ + edge.node; }
  void refresh(std::size_t t) {
    if (stale_[t]) measure(t);
  }
  bool measure(std::size_t t);

  TreeRows rows_;
  std::size_t ranks_;
  std::vector<std::int32_t> depth_, below_;  ///< by tree and rank
  std::vector<char> stale_;                  ///< by tree
  std::vector<std::size_t> parent_;          ///< of the tree that is measured
  std::int64_t steps_ = 0;
  RouteMaker maker_;
};

}  // namespace forestcoll::solver
