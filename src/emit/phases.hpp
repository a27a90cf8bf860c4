// The forests of a collective and the edges of their trees, in the order in which we write them.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "forestcoll/forest.hpp"

namespace forestcoll::emit {

struct Phase {
  std::string_view name;  // "reduce" or "broadcast"
  const Forest* forest;
};

/// In the order in which they run.
inline std::vector<Phase> phases(const CollectiveForest& forest) {
  std::vector<Phase> result;
  if (forest.reduce) result.push_back({"reduce", &*forest.reduce});
  if (forest.broadcast) result.push_back({"broadcast", &*forest.broadcast});
  return result;
}

inline std::span<const NodeId> ranks_of(const CollectiveForest& forest) {
  return first_trees(forest).ranks();
}

/// The ranks whose edges to their parents make up the tree, in an order in which data can flow: an
/// edge comes after those that bring what it carries.
inline std::vector<Rank> edges(const Forest& forest, TreeId tree) {
  std::vector<Rank> order = forest.by_depth(tree);
  order.erase(order.begin());
  if (forest.is_in_forest()) std::reverse(order.begin(), order.end());
  return order;
}

}  // namespace forestcoll::emit
