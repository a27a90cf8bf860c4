#include "common/report/figures/tree_shape.hpp"

#include <algorithm>

namespace forestcoll::cli {

TreeShape shape_of(const CollectiveForest& forest) {
  TreeShape shape;
  int phases = 0;
  for (const auto* phase : {&forest.reduce, &forest.broadcast}) {
    if (!*phase) continue;
    ++phases;
    shape.trees += static_cast<std::int64_t>((*phase)->tree_count());
    shape.highest = std::max(shape.highest, (*phase)->max_height());
    shape.mean_height += (*phase)->mean_height();
  }
  if (phases > 0) shape.mean_height /= phases;
  return shape;
}

TreeShape shape_of(const BranchingForest& forest) {
  TreeShape shape;
  const int phases = forest.collective == Collective::allreduce ? 2 : 1;
  for (const auto* phase : {&forest.reduce, &forest.broadcast}) {
    for (const BranchingTrees& trees : *phase) {
      shape.trees += static_cast<std::int64_t>(trees.forest.tree_count());
      for (std::size_t t = 0; t < trees.forest.tree_count(); ++t) {
        const Forest::Tree& tree = trees.forest.tree(TreeId(t));
        shape.highest = std::max(shape.highest, tree.height);
        shape.mean_height += static_cast<double>(tree.multiplicity) * tree.height /
                             (phases * static_cast<double>(forest.chunks));
      }
    }
  }
  return shape;
}

}  // namespace forestcoll::cli
