// The part of a fabric whose switches are balanced, and the proof that none has a higher rate.
#pragma once

#include <cstdint>
#include <vector>

#include "forestcoll/digraph.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"

namespace forestcoll {

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
