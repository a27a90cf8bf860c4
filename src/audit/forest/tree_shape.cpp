#include <algorithm>
#include <vector>

#include "audit/forest/check.hpp"

namespace forestcoll::audit {

TreeShape measure_tree(std::span<const std::int32_t> parent, std::int32_t root) {
  std::vector<std::int64_t> depth(parent.size(), -1);
  depth[static_cast<std::size_t>(root)] = 0;
  TreeShape shape;
  std::vector<std::int32_t> way;
  for (std::size_t v = 0; v < parent.size(); ++v) {
    way.clear();
    auto at = static_cast<std::int32_t>(v);
    // A way of more nodes than there are has passed one of them twice.
    while (at >= 0 && depth[static_cast<std::size_t>(at)] < 0 && way.size() <= parent.size()) {
      way.push_back(at);
      at = parent[static_cast<std::size_t>(at)];
    }
    if (at < 0) return {0, way.back(), false};
    if (depth[static_cast<std::size_t>(at)] < 0) return {0, at, true};
    std::int64_t d = depth[static_cast<std::size_t>(at)];
    for (auto it = way.rbegin(); it != way.rend(); ++it) depth[static_cast<std::size_t>(*it)] = ++d;
    shape.height = std::max(shape.height, d);
  }
  return shape;
}

}  // namespace forestcoll::audit
