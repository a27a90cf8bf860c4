// Allreduces, broadcasts and reductions whose trees branch at switches that copy and combine.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "forestcoll/collective.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll {

/// Trees that branch at the same switches. Those stand behind the ranks among the ranks of
/// `forest`, in their order: every tree spans them, as nodes that own nothing and want nothing.
struct BranchingTrees {
  std::vector<NodeId> switches;
  Forest forest;
};

/// The trees of an allreduce, both phases at the same time. The data is cut into as many equal
/// chunks as the multiplicities of either phase sum to; the chunks that are reduced at a node, by
/// whatever trees, are broadcast from there. Nodes that switches are may be roots, too. Of a
/// broadcast or a reduce, one of the phases from one rank.
struct BranchingForest {
  Collective collective = Collective::allreduce;
  std::optional<Rank> root = {};  ///< broadcast and reduce
  Ratio algbw = {};               ///< GB/s, what the trees reach; echoes are counted
  Ratio optimum = {};             ///< GB/s, proved: no trees are faster
  std::int64_t chunks = 1;
  std::vector<NodeId> ranks = {};              ///< the compute nodes
  std::vector<BranchingTrees> reduce = {};     ///< in-trees
  std::vector<BranchingTrees> broadcast = {};  ///< out-trees
};

/// The most messages one after the other: edges of a tree that end at ranks, away from its root.
/// What switches pass on at once is one. Cost: linear in the forest.
[[nodiscard]] std::int32_t messages_in_turn(const BranchingForest& forest);

}  // namespace forestcoll
