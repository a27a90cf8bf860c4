// Packing the trees of an allreduce that branch at switches.
#pragma once

#include <cstdint>
#include <optional>

#include "forestcoll/allreduce_optimum.hpp"
#include "forestcoll/branching_forest.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/pack.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll {

struct BranchingOptions {
  PackOptions packing = {};
  /// Trees of each phase, multiplicities counted; none: as many as the optimum takes.
  std::optional<std::int64_t> chunks = {};
  /// No tree higher, edges into and out of switches counted, at whatever rate that leaves.
  std::optional<std::int32_t> max_height = {};
  /// Trees to keep, of the same collective, root and ranks: where a class of trees branches at the
  /// same switches, see `repack`. Not together with `max_height`.
  const BranchingForest* previous = nullptr;
};

/// The trees of a broadcast or a reduce that branch at switches: as fast as any, since no cut gains
/// by what switches can do (one root's data crosses it once in any case), but with fewer messages
/// one after the other. Sets of switches that are tried: those at which a tree of the fewest links
/// branches, and all that can; of those that reach the optimum, the one with the fewest messages in
/// turn. Nothing where no switch can, or none of these reaches it, or that is not proved. REQUIRES:
/// `collective` is broadcast or reduce. Cost: that of `allreduce_optimum` and packing, twice.
[[nodiscard]] std::optional<BranchingForest> branching_from_root(
    const Network& network, const SwitchRoles& roles, Collective collective, Rank root,
    const BranchingOptions& options = {});

/// The trees that `optimum.split` promises. Trees that branch at the same switches are packed into
/// what the split gives them, with a twin beside each of these switches: a rank that owns nothing,
/// or, where a switch is a root, what is rooted there. Other switches are balanced, so by Edmonds'
/// theorem and splitting off (Bang-Jensen, Frank, Jackson 1995) the trees exist. With a given
/// number of chunks, the shares of roots and classes are rounded to them, the largest remainders
/// first, and every class is packed at the highest rate that its capacities then allow. `algbw` is
/// added up from the trees, echoes included. REQUIRES: `optimum` is of this network with these
/// roles, and has a split; `chunks` is positive. Errors: E14 where the split's common denominator
/// is too large and no chunks are given; those of `scale_to_k`, `pack` and `pack_within_height`.
/// Cost: a packing per class of trees and phase, but for those that the fabric's symmetries make of
/// others, and in-trees that are out-trees turned round: their trees are moved there.
[[nodiscard]] Expected<BranchingForest> pack_branching(const Network& network,
                                                       const SwitchRoles& roles,
                                                       const AllreduceOptimum& optimum,
                                                       const BranchingOptions& options = {});

}  // namespace forestcoll
