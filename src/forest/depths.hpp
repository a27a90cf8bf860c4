// How deep the nodes of a tree are, each of which knows the one above it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace forestcoll {

/// Fills in the hops of every node from the root; returns the most of them, or nothing where some
/// node does not hang on the root: the first such one then has −1. `parent(v)` is a node's number,
/// of a node that has none its own.
template <class Depth, class ParentOf>
std::optional<std::int32_t> fill_depths(std::span<Depth> depth, std::size_t root,
                                        ParentOf&& parent) {
  std::ranges::fill(depth, Depth{-1});
  depth[root] = 0;
  Depth height = 0;
  std::vector<std::size_t> chain;
  for (std::size_t v = 0; v < depth.size(); ++v) {
    std::size_t at = v;
    for (; depth[at] < 0; at = parent(at)) {
      if (chain.size() == depth.size()) return std::nullopt;
      chain.push_back(at);
    }
    for (Depth d = depth[at]; !chain.empty(); chain.pop_back()) depth[chain.back()] = ++d;
    height = std::max(height, depth[v]);
  }
  return height;
}

/// Fills in how many hops there are below every node.
template <class Depth, class ParentOf>
void fill_below(std::span<Depth> below, std::size_t root, ParentOf&& parent) {
  std::ranges::fill(below, Depth{0});
  for (std::size_t v = 0; v < below.size(); ++v) {
    Depth down = 0;
    // Stops where a longer way down is known: each node is passed once per rise of its value.
    for (std::size_t u = v; u != root;) {
      u = parent(u);
      if (below[u] >= ++down) break;
      below[u] = down;
    }
  }
}

}  // namespace forestcoll
