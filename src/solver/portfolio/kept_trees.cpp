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

// With their multiplicities.
std::map<Shape, std::int64_t> shapes_of(const BranchingForest& forest) {
  std::map<Shape, std::int64_t> shapes;
  for (const bool inward : {true, false}) {
    for (const BranchingTrees& trees : inward ? forest.reduce : forest.broadcast) {
      for (std::size_t t = 0; t < trees.forest.tree_count(); ++t) {
        const Forest::Tree& tree = trees.forest.tree(TreeId(t));
        Shape shape{inward, trees.forest.ranks()[tree.root.index()], {}};
        auto& paths = std::get<2>(shape);
        for (std::size_t v = 0; v < trees.forest.rank_count(); ++v) {
          if (Rank(v) != tree.root) paths.push_back(trees.forest.path(TreeId(t), Rank(v)));
        }
        std::ranges::sort(paths);
        shapes[std::move(shape)] += tree.multiplicity;
      }
    }
  }
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

}  // namespace

RepackStatistics kept_trees(const BranchingForest& previous, const BranchingForest& now,
                            const Network& network) {
  const auto before = shapes_of(previous), after = shapes_of(now);
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

}  // namespace forestcoll
