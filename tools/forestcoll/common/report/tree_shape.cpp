#include "common/report/tree_shape.hpp"

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

}  // namespace forestcoll::cli
