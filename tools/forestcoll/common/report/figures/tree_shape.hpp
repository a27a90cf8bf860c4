// How many trees a collective has, and how high they are.
#pragma once

#include <cstdint>

#include "forestcoll/branching_forest.hpp"
#include "forestcoll/forest.hpp"

namespace forestcoll::cli {

struct TreeShape {
  std::int64_t trees = 0;    ///< distinct ones, over all phases
  std::int32_t highest = 0;  ///< the largest height
  double mean_height = 0;    ///< weighted by multiplicity, over all phases alike
};
[[nodiscard]] TreeShape shape_of(const CollectiveForest& forest);
/// Edges into and out of switches are counted.
[[nodiscard]] TreeShape shape_of(const BranchingForest& forest);

}  // namespace forestcoll::cli
