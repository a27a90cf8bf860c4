// The capacitated digraph that the solver works on, and proofs about parts of it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "forestcoll/collective.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/digraph.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll {

/// Bandwidth in integral units.
using Capacity = std::int64_t;

/// A capacity that several arcs share: Σ weight × what goes over the arc is at most that.
struct ArcLimit {
  std::vector<std::pair<ArcId, std::int64_t>> uses;  ///< arcs ascending, with weights above 0
  Capacity capacity = 0;                             ///< in `Network::unit`, positive
  std::string name = {};                             ///< the topology's; may be empty
};

/// A digraph with integral capacities: one arc per direction per linked pair, parallel links
/// summed, disabled parts left out (a disabled node is isolated). NodeId is the topology's.
///
/// INVARIANT: (sum of all capacities) × (number of compute nodes, or sum of their weights, if that
/// is more) < 2^62, so every product that the solver forms of a capacity and an amount of data fits
/// 64 bits; `to_digraph` refuses the rest.
struct Network {
  Digraph graph;
  IdVector<ArcId, Capacity> capacity;  ///< in `unit`, all positive, greatest common divisor 1
  Ratio unit = 1;                      ///< GB/s of one unit of capacity
  std::vector<NodeId> ranks;           ///< the compute nodes in rank order
  IdVector<NodeId, Rank> rank_of;      ///< invalid for switches and disabled nodes
  /// Shares of the data, in lowest integers, 0 for a rank that only relays and receives; empty
  /// where all own the same. Collectives with a root do not look at it.
  IdVector<Rank, std::int64_t> weight = {};
  bool has_owner =
      true;  ///< false where all have weight 0, so that nobody owns a share of the data
  /// What the programs of `joint_optimum` and `allreduce_optimum` hold. Other solvers want a
  /// network without any, such as that of a part within limits (`job_parts`).
  std::vector<ArcLimit> limits = {};  ///< on different arcs, or with different weights
  [[nodiscard]] bool is_compute(NodeId v) const { return rank_of[v].valid(); }
};

/// The topology as a capacitated digraph. Errors: E14 where the exact capacities or weights do not
/// fit. Limits none of whose links is in use are left out.
/// Cost: O(n + m log m).
[[nodiscard]] Expected<Network> to_digraph(const Topology& topology);

/// Whether the ranks own unequal shares of this collective's data: of an allgather or a
/// reduce_scatter by weight. Of the others nobody owns a part, or all own as much.
[[nodiscard]] bool has_unequal_shares(const Network& network, Collective collective);

/// Error E05 of an allgather or a reduce_scatter where no rank owns anything. What has one root, or
/// as much of every rank, does not look at weights.
[[nodiscard]] Expected<void> refuse_without_owner(const Network& network, Collective collective);

/// Whether every arc has another of its capacity the other way.
[[nodiscard]] bool is_symmetric(const Network& network);

/// The same fabric with every arc turned round: a reduce-scatter is an allgather on it.
[[nodiscard]] Network reversed(const Network& network);

// The part of a fabric whose switches are balanced, and the proof that none has a higher rate.

/// A cut with a multiplier.
struct PricedCut {
  std::vector<NodeId> sending;
  std::int64_t price = 0;  ///< 0 or more
};

/// Why no balanced part has a rate above 1/inverse. Let y(S) be the price of a cut, p(v) that of a
/// node, 0 at compute nodes, and t(u→v) = Σ y(S) over the cuts that u→v leaves, plus p(u) − p(v).
/// A part c' ≤ c that is balanced at switches and carries a rate x over all cuts has
///     x · Σ y(S)·weight(S) ≤ Σ y(S)·c'(leaving S) = Σ c'(a)·t(a) ≤ Σ c(a)·max(0, t(a)).
/// Where there are symmetries, t is first averaged over arcs that they exchange: the average of a
/// best part's images is a best part that is the same on all of them.
struct BalanceProof {
  std::vector<PricedCut> cuts;
  IdVector<NodeId, std::int64_t> price;
  /// Images of all nodes under automorphisms that keep capacities and weights.
  std::vector<IdVector<NodeId, NodeId>> symmetries;
};

/// Trees enter a switch as often as they leave it, so what they take of a fabric is a part of it
/// in which as much capacity enters every switch as leaves it; and whatever the cuts of such a part
/// allow, trees reach (Bang-Jensen, Frank, Jackson 1995).
struct BalancedPart {
  IdVector<ArcId, Capacity> capacity;  ///< over `denominator`, in the network's units
  std::int64_t denominator = 1;
  BalanceProof proof;  ///< without cuts where the fabric's bottleneck alone proves the rate
};

}  // namespace forestcoll
