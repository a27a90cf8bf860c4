// Small forests made by hand or at random, for the tests of schedules and emitters.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "forest/route_table.hpp"
#include "forest/symmetry.hpp"
#include "forestcoll/forest.hpp"

namespace forestcoll::testing {

/// A tree as the parent of every rank, −1 at the root.
struct ParentTree {
  int root = 0;
  std::int64_t multiplicity = 1;
  std::vector<int> parents;
};

inline std::int32_t depth_of(const ParentTree& tree, int v) {
  std::int32_t depth = 0;
  for (; v != tree.root; v = tree.parents[static_cast<std::size_t>(v)]) ++depth;
  return depth;
}

/// Ranks are nodes 0 … n−1. With a `switch_node`, every edge passes it. The first `moved` trees
/// stand for all that the symmetry makes of them.
inline Forest make_forest(int n, const std::vector<ParentTree>& trees, int switch_node = -1,
                          const Symmetry& symmetry = Symmetry(), std::size_t moved = 0) {
  std::vector<NodeId> ranks;
  for (int v = 0; v < n; ++v) ranks.emplace_back(v);
  RouteTable table(ranks);
  std::vector<SegmentId> direct;
  for (const NodeId v : ranks) direct.push_back(table.add_segment(std::vector<NodeId>{v}));
  std::vector<PrefixId> from(static_cast<std::size_t>(n));
  for (int v = 0; v < n; ++v) from[static_cast<std::size_t>(v)] = PrefixId(v);
  if (switch_node >= 0) {
    const SegmentId up = table.add_segment(std::vector<NodeId>{NodeId(switch_node)});
    for (auto& prefix : from) prefix = table.extend(prefix, up);
  }
  std::vector<Forest::Tree> made;
  std::vector<Route> routes;
  for (const ParentTree& tree : trees) {
    std::int32_t height = 0;
    for (int v = 0; v < n; ++v) {
      const int parent = tree.parents[static_cast<std::size_t>(v)];
      height = std::max(height, depth_of(tree, v));
      routes.push_back(parent < 0 ? Route()
                                  : Route{from[static_cast<std::size_t>(parent)],
                                          direct[static_cast<std::size_t>(v)]});
    }
    made.push_back({Rank(tree.root), tree.multiplicity, height});
  }
  return Forest(std::move(table), std::move(made), std::move(routes), symmetry, moved);
}

inline ParentTree star(int n, int root, std::int64_t multiplicity = 1) {
  ParentTree tree{root, multiplicity, std::vector<int>(static_cast<std::size_t>(n), root)};
  tree.parents[static_cast<std::size_t>(root)] = -1;
  return tree;
}

/// root → root + 1 → … around the ring.
inline ParentTree path(int n, int root, std::int64_t multiplicity = 1) {
  ParentTree tree{root, multiplicity, std::vector<int>(static_cast<std::size_t>(n), -1)};
  for (int i = 1; i < n; ++i) {
    tree.parents[static_cast<std::size_t>((root + i) % n)] = (root + i - 1) % n;
  }
  return tree;
}

/// A binary heap over the ranks, counted from the root on.
inline ParentTree binary(int n, int root, std::int64_t multiplicity = 1) {
  ParentTree tree{root, multiplicity, std::vector<int>(static_cast<std::size_t>(n), -1)};
  for (int i = 1; i < n; ++i) {
    tree.parents[static_cast<std::size_t>((root + i) % n)] = (root + (i - 1) / 2) % n;
  }
  return tree;
}

inline int below(std::mt19937& random, int bound) {
  return static_cast<int>(random() % static_cast<unsigned>(bound));
}

inline ParentTree random_tree(int n, int root, std::int64_t multiplicity, std::mt19937& random) {
  std::vector<int> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[0], order[static_cast<std::size_t>(root)]);
  for (std::size_t i = order.size() - 1; i > 1; --i) {
    std::swap(order[i], order[1 + static_cast<std::size_t>(below(random, static_cast<int>(i)))]);
  }
  ParentTree tree{root, multiplicity, std::vector<int>(static_cast<std::size_t>(n), -1)};
  for (std::size_t i = 1; i < order.size(); ++i) {
    tree.parents[static_cast<std::size_t>(order[i])] =
        order[static_cast<std::size_t>(below(random, static_cast<int>(i)))];
  }
  return tree;
}

/// Random trees for each of `roots`, k in all for each, of random multiplicities.
inline std::vector<ParentTree> random_trees(int n, std::int64_t k, const std::vector<int>& roots,
                                            std::mt19937& random) {
  std::vector<ParentTree> trees;
  for (const int root : roots) {
    for (std::int64_t left = k; left > 0;) {
      const std::int64_t m = 1 + below(random, static_cast<int>(left));
      trees.push_back(random_tree(n, root, m, random));
      left -= m;
    }
  }
  std::shuffle(trees.begin(), trees.end(), random);
  return trees;
}

inline std::vector<int> roots_of(Collective collective, int n, int root) {
  std::vector<int> roots = {root};
  if (!is_rooted(collective)) {
    roots.resize(static_cast<std::size_t>(n));
    std::iota(roots.begin(), roots.end(), 0);
  }
  return roots;
}

/// A collective whose phases use `reduce` and `broadcast`, each where the collective has that
/// phase.
inline CollectiveForest collective_of(Collective collective, std::int64_t k, const Forest& reduce,
                                      const Forest& broadcast, int root = 0) {
  CollectiveForest result;
  result.collective = collective;
  result.k = k;
  result.algbw = Ratio(100, 3);
  result.optimum = Ratio(50);
  if (is_rooted(collective)) result.root = Rank(root);
  if (collective != Collective::allgather && collective != Collective::broadcast) {
    result.reduce = reduce.reversed();
  }
  if (collective != Collective::reduce_scatter && collective != Collective::reduce) {
    result.broadcast = broadcast;
  }
  return result;
}

/// Trees at random, of each phase its own.
inline CollectiveForest random_forest(Collective collective, int n, std::int64_t k,
                                      std::mt19937& random) {
  const int root = below(random, n);
  const auto roots = roots_of(collective, n, root);
  const Forest reduce = make_forest(n, random_trees(n, k, roots, random));
  const Forest broadcast = make_forest(n, random_trees(n, k, roots, random));
  return collective_of(collective, k, reduce, broadcast, root);
}

/// One tree of a shape (star, path, binary) for every root that the collective has.
template <class Shape>
CollectiveForest shaped(Collective collective, int n, std::int64_t k, Shape shape, int root = 0) {
  std::vector<ParentTree> trees;
  for (const int r : roots_of(collective, n, root)) trees.push_back(shape(n, r, k));
  const Forest forest = make_forest(n, trees);
  return collective_of(collective, k, forest, forest, root);
}

inline const std::vector<Collective>& all_collectives() {
  static const std::vector<Collective> all = {Collective::allgather, Collective::reduce_scatter,
                                              Collective::allreduce, Collective::broadcast,
                                              Collective::reduce};
  return all;
}

}  // namespace forestcoll::testing
