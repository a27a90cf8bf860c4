// The shape of a tree that is given by parents.
#pragma once

#include <cstdint>
#include <span>

namespace forestcoll::audit {

struct TreeShape {
  std::int64_t height = 0;  ///< edges on the longest way to the root
  std::int32_t stray = -1;  ///< a node that does not hang on the root; −1: all do
  bool circular = false;    ///< `stray` lies on a circle; else its way ends at a node but the root
};

/// `parent[v]` is −1 where v has none. Cost: linear.
[[nodiscard]] TreeShape measure_tree(std::span<const std::int32_t> parent, std::int32_t root);

}  // namespace forestcoll::audit
