#include "forestcoll/branching_forest.hpp"

#include <algorithm>
#include <cstddef>

namespace forestcoll {
namespace {

std::int32_t most_in_turn(const Forest& forest, TreeId t, std::size_t ranks) {
  IdVector<Rank, std::int32_t> messages(forest.rank_count(), 0);
  std::int32_t most = 0;
  for (const Rank v : forest.by_depth(t)) {
    if (v == forest.tree(t).root) continue;
    messages[v] = messages[forest.parent(t, v)] + (v.index() < ranks ? 1 : 0);
    most = std::max(most, messages[v]);
  }
  return most;
}

}  // namespace

std::int32_t messages_in_turn(const BranchingForest& forest) {
  std::int32_t most = 0;
  for (const auto* phase : {&forest.reduce, &forest.broadcast}) {
    for (const BranchingTrees& trees : *phase) {
      for (std::size_t t = 0; t < trees.forest.tree_count(); ++t) {
        most = std::max(most, most_in_turn(trees.forest, TreeId(t), forest.ranks.size()));
      }
    }
  }
  return most;
}

}  // namespace forestcoll
