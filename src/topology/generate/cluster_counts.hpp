// How many switches a cluster has, from its shape.
#pragma once

#include <cstddef>

#include "forestcoll/generate.hpp"
#include "topology/generate/boxes.hpp"

namespace forestcoll::topology {

[[nodiscard]] ClusterBox cluster_box(const BoxModel& model);

/// How many parts of at most `size` hold `all`.
[[nodiscard]] inline std::size_t parts_needed(std::size_t all, std::size_t size) {
  return (all + size - 1) / size;
}

[[nodiscard]] inline bool is_railed(ClusterLayout layout) {
  return layout == ClusterLayout::rail || layout == ClusterLayout::rail_only;
}

/// NICs of one box on a leaf.
[[nodiscard]] inline std::size_t nics_on_leaf(const ClusterShape& shape, const ClusterBox& box) {
  return is_railed(shape.layout) ? 1 : box.nics;
}

/// Leaves that share the boxes of a rail, or all of them where there are no rails. A dragonfly's
/// groups all have the same number of routers.
[[nodiscard]] inline std::size_t leaves_of_rail(const ClusterShape& shape) {
  const std::size_t leaves = parts_needed(shape.boxes, shape.boxes_per_leaf);
  if (shape.layout != ClusterLayout::dragonfly) return leaves;
  return parts_needed(leaves, shape.leaves_per_pod) * shape.leaves_per_pod;
}

[[nodiscard]] inline std::size_t leaves_of(const ClusterShape& shape, const ClusterBox& box) {
  return leaves_of_rail(shape) * (is_railed(shape.layout) ? box.nics : 1);
}

/// Independent fabrics above the leaves.
[[nodiscard]] inline std::size_t planes_of(const ClusterShape& shape, const ClusterBox& box) {
  return shape.layout == ClusterLayout::rail_only ? box.nics : 1;
}

/// Of one plane.
[[nodiscard]] inline std::size_t pods_of(const ClusterShape& shape, const ClusterBox& box) {
  const std::size_t leaves = leaves_of(shape, box) / planes_of(shape, box);
  return shape.levels == 3 ? parts_needed(leaves, shape.leaves_per_pod) : 1;
}

}  // namespace forestcoll::topology
