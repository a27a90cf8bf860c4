#include "solver/portfolio/kept_trees.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace forestcoll {
namespace {

/// What a tree is known by: whether it reduces, its root, and the paths of its edges.
using Shape = std::tuple<bool, NodeId, std::vector<std::vector<NodeId>>>;

using Shapes = std::map<Shape, std::int64_t>;  // with their multiplicities

void add_shapes(const Forest& forest, bool inward, Shapes& shapes) {
  for (std::size_t t = 0; t < forest.tree_count(); ++t) {
    const Forest::Tree& tree = forest.tree(TreeId(t));
    Shape shape{inward, forest.ranks()[tree.root.index()], {}};
    auto& paths = std::get<2>(shape);
    for (std::size_t v = 0; v < forest.rank_count(); ++v) {
      if (Rank(v) != tree.root) paths.push_back(forest.path(TreeId(t), Rank(v)));
    }
    std::ranges::sort(paths);
    shapes[std::move(shape)] += tree.multiplicity;
  }
}

Shapes shapes_of(const BranchingForest& forest) {
  Shapes shapes;
  for (const BranchingTrees& trees : forest.reduce) add_shapes(trees.forest, true, shapes);
  for (const BranchingTrees& trees : forest.broadcast) add_shapes(trees.forest, false, shapes);
  return shapes;
}

Shapes shapes_of(const CollectiveForest& forest) {
  Shapes shapes;
  if (forest.reduce) add_shapes(*forest.reduce, true, shapes);
  if (forest.broadcast) add_shapes(*forest.broadcast, false, shapes);
  return shapes;
}

bool stands(const Shape& shape, const Network& network) {
  return std::ranges::all_of(std::get<2>(shape), [&](const std::vector<NodeId>& path) {
    for (std::size_t i = 0; i + 1 < path.size(); ++i) {
      if (!network.graph.find(path[i], path[i + 1]).valid()) return false;
    }
    return true;
  });
}

RepackStatistics compare(const Shapes& before, const Shapes& after, const Network& network) {
  RepackStatistics statistics;
  statistics.previous = std::ssize(before);
  for (const auto& [shape, multiplicity] : before) {
    if (!stands(shape, network)) ++statistics.touched;
  }
  for (const auto& [shape, multiplicity] : after) {
    statistics.total_multiplicity += multiplicity;
    if (!before.contains(shape)) {
      ++statistics.added;
      continue;
    }
    ++statistics.kept;
    statistics.kept_multiplicity += multiplicity;
  }
  return statistics;
}

}  // namespace

RepackStatistics kept_trees(const BranchingForest& previous, const BranchingForest& now,
                            const Network& network) {
  return compare(shapes_of(previous), shapes_of(now), network);
}

RepackStatistics kept_trees(const CollectiveForest& previous, const CollectiveForest& now,
                            const Network& network) {
  return compare(shapes_of(previous), shapes_of(now), network);
}

}  // namespace forestcoll
