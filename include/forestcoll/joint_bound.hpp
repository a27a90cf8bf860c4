// The highest rate of several collectives at once, proved from both sides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stop_token>
#include <vector>

#include "forestcoll/alltoall.hpp"
#include "forestcoll/commodity.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/job.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll {

struct JointLimits {
  int rounds = 1000;
  std::int64_t pivots = std::numeric_limits<std::int32_t>::max();  ///< of the simplex
  std::stop_token stop = {};
  /// GB/s: may end where lengths prove that no rate is as high. Then `at_most` is what they prove,
  /// and `reached` is 0.
  double least_rate = 0;
  bool shares = false;  ///< whether `JointOptimum::shares` is asked for
};

/// Rates in GB/s of `JointDemand::whole()`: what the largest operation gets; the others get as much
/// as their amounts are of it.
struct JointOptimum {
  Ratio reached;                            ///< trees and paths reach it
  Ratio at_most;                            ///< what `lengths` prove: no trees and paths are faster
  ArcLengths lengths;                       ///< of the links
  std::vector<std::int64_t> limit_lengths;  ///< of `Network::limits`
  /// By operation, what part of every arc's capacity its trees and paths take, in floating point.
  std::vector<IdVector<ArcId, double>> loads;
  /// What each group's trees and paths take of the arcs at `reached`, where `JointLimits::shares`
  /// asks for it. Groups that symmetries exchange have shares that these exchange. What does not
  /// fit 64 bits is rounded down.
  LinkShares shares = {};

  [[nodiscard]] bool is_exact() const { return reached == at_most; }
};

/// The largest rate at which all commodities can be moved at once, along trees and paths that
/// branch at members alone. It is a linear program: for each commodity g, amounts x_g(e) that are
/// balanced wherever a node is no member, with Σ_g x_g(e) ≤ c(e), such that every member can
/// receive what all roots have by a flow in x_g (in-trees: on the reversed fabric; paths: flows
/// that add up to x_g). At balanced nodes splitting off keeps all connectivities, so that there are
/// such trees (Bang-Jensen, Frank, Jackson 1995). It is solved from its dual, the best lengths of
/// the proof below: under lengths so far the cheapest trees and paths are sought, until none is
/// cheaper, and the prices of these are how much of each is taken.
///
/// The proof of `at_most` are lengths y ≥ 0 of the links: the time for all is at least
///     Σ_g amount_g · cost_g(y) / Σ_e c(e) · y(e),
/// where cost_g is the least that the commodity can do under these lengths: of out-trees from a
/// root the minimum-cost arborescence over the group (Chu, Liu 1965; Edmonds 1967) in the metric of
/// shortest paths through nodes that pass its data on; of in-trees the same reversed; of an
/// allreduce the least sum of both over all roots; of paths their distances. By duality the best
/// lengths prove the optimum. A cut is the special case of lengths 0 and 1. A capacity that several
/// links share (`Network::limits`) is one more row, Σ_e weight(e) · Σ_g x_g(e) ≤ b, and has a
/// length z ≥ 0 of its own: each of its links is longer by weight(e) · z, and b · z is added below.
///
/// Both sides are exact: the program is solved in floating point, and what it finds is rounded to
/// fractions and proved. Where exact arithmetic does not confirm a side, the answer is an interval.
/// What `network.weight` says and what switches copy or combine does not count.
///
/// REQUIRES: `demand` is of this network. Errors: E14 where the rate does not fit 64 bits.
/// Cost: per round a dual simplex, and for each root that symmetries do not exchange for another a
/// Dijkstra per member and an arborescence.
[[nodiscard]] Expected<JointOptimum> joint_optimum(const Network& network,
                                                   const JointDemand& demand,
                                                   const JointLimits& limits = {});

/// A step of a job beside what else could be done with it.
struct StepBound {
  JointDemand demand;
  JointOptimum together;
  std::vector<JointOptimum> alone;  ///< by operation, for its own buffer
  /// GB/s of the buffer of `demand.largest()` where operations run one after the other, each alone,
  /// by what each is proved to reach: that buffer, without its weight, by the time of all.
  Ratio in_turn;
};

/// Errors: those of `joint_demand` and `joint_optimum`. Cost: that of `joint_optimum` for all
/// operations and for each.
[[nodiscard]] Expected<StepBound> bound_step(const Network& network,
                                             std::span<const JobOperation> operations, bool relays,
                                             const JointLimits& limits = {});

}  // namespace forestcoll
