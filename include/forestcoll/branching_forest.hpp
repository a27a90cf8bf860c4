// Allreduces whose trees branch at switches that copy and combine.
#pragma once

#include <cstdint>
#include <vector>

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
/// whatever trees, are broadcast from there. Nodes that switches are may be roots, too.
struct BranchingForest {
  Ratio algbw = {};    ///< GB/s, what the trees reach; echoes are counted
  Ratio optimum = {};  ///< GB/s, proved: no trees are faster
  std::int64_t chunks = 1;
  std::vector<NodeId> ranks = {};              ///< the compute nodes
  std::vector<BranchingTrees> reduce = {};     ///< in-trees
  std::vector<BranchingTrees> broadcast = {};  ///< out-trees
};

}  // namespace forestcoll
