#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "audit/forest/check.hpp"

namespace forestcoll::audit {
namespace {

struct TreeShape {
  std::int64_t height = 0;  // edges on the longest way to the root
  std::int32_t stray = -1;  // a node that does not hang on the root; −1: all do
  bool circular = false;    // `stray` lies on a circle; else its way ends at a node but the root
};

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

}  // namespace

void check_shape(const ForestTree& tree, std::span<const std::int32_t> parent, std::int32_t root,
                 const std::function<std::string(std::int32_t)>& name_of, const std::string& where,
                 Findings& findings) {
  const TreeShape shape = measure_tree(parent, root);
  if (shape.stray >= 0) {
    findings.add(Rule::tree, where,
                 shape.circular
                     ? fmt::format("the edges at {} go in a circle", name_of(shape.stray))
                     : fmt::format("{} is not connected to the root", name_of(shape.stray)));
  } else if (shape.height != tree.height) {
    findings.add(Rule::height, where,
                 fmt::format("height is {}, but the longest way to the root has {} edges",
                             tree.height, shape.height));
  }
}

}  // namespace forestcoll::audit
