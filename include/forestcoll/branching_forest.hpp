// Forests whose trees branch at switches that copy and combine; reading any forest back.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "forestcoll/collective.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/topology.hpp"

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

// Reading forest JSON back, to go on from it.

/// Reads what `to_forest_json` and `to_symmetric_forest_json` write; images are worked out on
/// demand, in the order that the first of the two gives them. NodeIds are those of `topology`,
/// which must know every id of the file; disabled nodes count. The rates are taken as they stand:
/// this is no check of the claim, see `verify`. Errors: F01 not such a file, F02 a tree that is
/// none, or a node that the topology has not, both with the place; T10 more than 50 million edges,
/// images counted. Cost: linear in the text, some 30 bytes per edge.
[[nodiscard]] Expected<CollectiveForest> parse_forest(std::string_view text, std::string_view file,
                                                      const Topology& topology);

/// A forest over GPUs, or one whose trees branch at switches (version 3).
using AnyForest = std::variant<CollectiveForest, BranchingForest>;

/// The same of any version. In version 3 trees with the same branching points are together, as
/// `BranchingTrees` has them; whether the switches can copy or combine is not looked at.
/// Errors and cost: the same.
[[nodiscard]] Expected<AnyForest> parse_any_forest(std::string_view text, std::string_view file,
                                                   const Topology& topology);

}  // namespace forestcoll
