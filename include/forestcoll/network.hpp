// The capacitated digraph that the solver works on.
#pragma once

#include <cstdint>
#include <vector>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/digraph.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll {

/// Bandwidth in integral units.
using Capacity = std::int64_t;

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
  [[nodiscard]] bool is_compute(NodeId v) const { return rank_of[v].valid(); }
};

/// The topology as a capacitated digraph. Errors: E14 where the exact capacities or weights do not
/// fit, E05 where no compute node has a positive weight.
/// Cost: O(n + m log m).
[[nodiscard]] Expected<Network> to_digraph(const Topology& topology);

/// The same fabric with every arc turned round: a reduce-scatter is an allgather on it.
[[nodiscard]] Network reversed(const Network& network);

}  // namespace forestcoll
