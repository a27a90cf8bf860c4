// A forest of spanning trees: what the solver packs, and what schedules are made of.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "forestcoll/collective.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll {

// What forests are put together from: src/forest/route_table.hpp and symmetry.hpp.
class RouteTable;
struct Route;
class Symmetry;

/// Spanning out-trees over N ranks with multiplicities. A tree is held as the route by which each
/// rank is reached. `reversed()` gives the same trees as in-trees (each route walked backwards) at
/// no cost; they share storage.
class Forest {
 public:
  struct Tree {
    Rank root;
    std::int64_t multiplicity = 1;
    std::int32_t height = 0;
  };

  Forest() = default;
  /// `routes[t * N + v]` reaches rank v in tree t; invalid at the root. REQUIRES: trees in order
  /// of their roots.
  Forest(RouteTable table, std::vector<Tree> trees, std::vector<Route> routes);
  /// The first `moved` trees stand for all their images under the symmetry too, which are worked
  /// out on demand.
  Forest(RouteTable table, std::vector<Tree> trees, std::vector<Route> routes, Symmetry symmetry,
         std::size_t moved);

  [[nodiscard]] std::size_t rank_count() const { return ranks_.size(); }
  [[nodiscard]] std::size_t tree_count() const { return trees_.size(); }
  [[nodiscard]] const Tree& tree(TreeId t) const { return trees_[t.index()]; }
  [[nodiscard]] std::span<const NodeId> ranks() const { return ranks_; }

  /// True where edges go from child to parent (reduce-scatter, reduce).
  [[nodiscard]] bool is_in_forest() const { return in_; }
  /// The parent of `child` in tree `t`; invalid for the root.
  [[nodiscard]] Rank parent(TreeId t, Rank child) const;
  /// All nodes that the edge between `child` and its parent passes, in the direction of the data,
  /// ends included. REQUIRES: `child` is not the root.
  [[nodiscard]] std::vector<NodeId> path(TreeId t, Rank child) const;
  /// The ranks of tree `t` by depth, the root first; equal depths in rank order. Cost: O(N).
  [[nodiscard]] std::vector<Rank> by_depth(TreeId t) const;

  /// The trees that all others are images of, and the automorphisms that make them.
  [[nodiscard]] const Symmetry& symmetry() const;
  [[nodiscard]] std::vector<TreeId> base_trees() const;
  /// Are the images of this base tree in the forest too?
  [[nodiscard]] bool has_images(TreeId base) const;

  [[nodiscard]] Forest reversed() const;
  /// The same trees with `factor` times the multiplicities.
  [[nodiscard]] Forest scaled(std::int64_t factor) const;
  /// The same trees, none as an image of another. Cost: O(trees · N · hops).
  [[nodiscard]] Forest expanded() const;
  /// The same with multiplicities of so much in all for each root: as near to their shares as whole
  /// numbers are. Roots round up other trees than the roots before them do, so that trees which
  /// share links, such as those along one ring, come out nearly even over all roots. REQUIRES: the
  /// multiplicities of no root have a larger sum.
  [[nodiscard]] Forest spread_over(const IdVector<Rank, std::int64_t>& sums) const;

  [[nodiscard]] std::int32_t max_height() const;
  /// Mean height, weighted by multiplicity.
  [[nodiscard]] double mean_height() const;

 private:
  struct Data;
  explicit Forest(std::shared_ptr<const Data> data);
  [[nodiscard]] Route route(TreeId t, Rank child) const;
  [[nodiscard]] Forest expanded(std::vector<Tree> trees) const;

  std::shared_ptr<const Data> data_;
  std::span<const Tree> trees_;    ///< of `data_`
  std::span<const NodeId> ranks_;  ///< of `data_`
  bool in_ = false;
};

/// The forests that carry out one collective, and the rate that they reach.
struct CollectiveForest {
  Collective collective = Collective::allgather;
  std::optional<Rank> root;         ///< broadcast and reduce
  std::int64_t k = 1;               ///< trees per unit of weight, multiplicities counted
  Ratio algbw;                      ///< GB/s, what the forests reach
  Ratio optimum;                    ///< GB/s, the proved bound
  std::optional<Forest> reduce;     ///< in-trees: reduce_scatter, reduce, allreduce
  std::optional<Forest> broadcast;  ///< out-trees: allgather, broadcast, allreduce
  /// What each rank owns, in lowest integers; empty: all the same, and k trees per root.
  IdVector<Rank, std::int64_t> weight = {};
};

/// Those of its only phase, or of the reduce.
[[nodiscard]] inline const Forest& first_trees(const CollectiveForest& forest) {
  return forest.reduce ? *forest.reduce : *forest.broadcast;
}

// How many chunks a forest has: k per root, or, where roots own unequal shares, from so many to so
// many.

/// Bytes of which the chunks of an MSCCL++ plan are multiples.
inline constexpr std::int64_t kPlanAlignment = 16;

/// The fewest and the most trees of a root.
[[nodiscard]] inline std::pair<std::int64_t, std::int64_t> range_of_trees(
    const CollectiveForest& forest) {
  if (forest.weight.empty()) return {forest.k, forest.k};
  const auto [least, most] = std::minmax_element(forest.weight.begin(), forest.weight.end());
  return {*least * forest.k, *most * forest.k};
}

/// Of all roots together. REQUIRES: `forest.weight` is not empty.
[[nodiscard]] inline std::int64_t chunks_of(const CollectiveForest& forest) {
  std::int64_t chunks = 0;
  for (const std::int64_t weight : forest.weight) chunks += weight * forest.k;
  return chunks;
}

/// Of all trees of both phases together.
[[nodiscard]] inline std::size_t edge_count(const CollectiveForest& forest) {
  std::size_t edges = 0;
  for (const auto* phase : {&forest.reduce, &forest.broadcast}) {
    if (*phase) edges += (*phase)->tree_count() * ((*phase)->rank_count() - 1);
  }
  return edges;
}

}  // namespace forestcoll
