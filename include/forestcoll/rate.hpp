// The optimal rate of a fabric, with the cut that proves that nothing is faster.
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "forestcoll/digraph.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll {

/// A set S of nodes that does not hold every compute node: whatever its compute nodes own must
/// leave through the arcs from S to the rest.
struct Cut {
  std::vector<NodeId> sending;  ///< S, by id
  std::int64_t weight = 0;      ///< how much data S owns: its compute nodes, by weight
  Capacity exit = 0;            ///< B⁺(S), capacity of the arcs that leave S
};

/// How the work of a solver stage went; for reports and benchmarks.
struct RateStatistics {
  std::int64_t newton_steps = 0;
  std::int64_t flows = 0;  ///< maximum flows, those begun again after a step counted too
};

/// x*, the rate at which all roots can broadcast at once.
struct Rate {
  Ratio inverse;   ///< 1/x* = bottleneck.weight / bottleneck.exit, per unit of capacity
  Cut bottleneck;  ///< the proof: anybody can add it up
  /// False where it was stopped on the way: no rate is above 1/inverse, which `bottleneck` proves
  /// as ever, but whether one is as high is open.
  bool optimal = true;
  RateStatistics statistics;
};

/// What each rank owns, in trees per unit of k: 1 everywhere for allgather; 1 at the root and 0
/// elsewhere for broadcast.
using Weights = IdVector<Rank, std::int64_t>;
[[nodiscard]] Weights uniform_weights(const Network& network);
/// What the topology says: `network.weight`, or 1 everywhere where that is empty.
[[nodiscard]] Weights shares(const Network& network);
[[nodiscard]] Weights single_root(const Network& network, Rank root);

/// 1/x* = max over S, S not holding all compute nodes, of weight(S) / B⁺(S). (Zhao et al.,
/// ForestColl, NSDI'26; by Newton's method on minimum cuts, exactly.)
/// REQUIRES: at least two compute nodes, all of which reach one another; some weight positive, and
/// (sum of weights) × (sum of capacities) < 2^62.
/// Cost: a maximum flow per compute node and Newton step, most of them short.
[[nodiscard]] Rate optimal_rate(const Network& network, const Weights& weights);
/// The same, begun from the narrowest of these sending sides, where that is narrower than every
/// single node's: for a fabric that is like one solved before.
/// Where `stop` asks to give up, the narrowest cut so far; what is a matter of milliseconds is done
/// all the same.
/// REQUIRES: none of them holds every compute node.
[[nodiscard]] Rate optimal_rate(const Network& network, const Weights& weights,
                                std::span<const std::vector<NodeId>> known_cuts,
                                const std::stop_token& stop = {});

}  // namespace forestcoll
