// The rates that every command names: the optimum of a fabric, and the optimum by trees.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>

#include "forestcoll/allreduce.hpp"
#include "forestcoll/collective.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/joint_bound.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/synthesize.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll {

/// GB/s of algbw: a rate that is proved, or the two between which it is.
struct RateFigure {
  Ratio at_most;   ///< no schedule of its kind exceeds it
  Ratio at_least;  ///< some schedule of its kind reaches it

  [[nodiscard]] bool is_exact() const { return at_least == at_most; }
  bool operator==(const RateFigure&) const = default;
};

/// What the figures of an allreduce follow from.
struct AllreduceFigures {
  Expected<Ratio> two_phases;           ///< GB/s: reduce-scatter, then allgather
  Expected<AllreduceOptimum> by_trees;  ///< over GPUs
  /// Of trees that branch at switches, too; none where no switch copies or combines.
  std::optional<Expected<AllreduceOptimum>> in_network = {};
};

/// The two figures of a collective on a fabric that no format and no target changes. Each stands by
/// itself: where one is not known, the other may be, and the error says why. What a schedule
/// reaches is the third: see `reached_by`.
struct RateFigures {
  /// Of anything that the fabric can do: switches copy and combine as far as they can, and GPUs
  /// outside of a process group relay.
  Expected<RateFigure> optimum;
  /// Of trees over GPUs, without copies and sums in switches; those of an allreduce's two phases at
  /// the same time, where that is faster.
  Expected<RateFigure> by_trees;
  std::optional<AllreduceFigures> allreduce = {};  ///< set of an allreduce alone
};

/// `trees` is the `bound` of this collective on this network. Where the two sides of a switch that
/// copies or combines differ, such a phase is faster than trees by up to what the cuts allow: the
/// optimum is between, and of a broadcast or reduce from `root` what `phase_optimum` says. Errors
/// of figures: those of `trees`, `allreduce_optimum` and `phase_optimum`. Cost: of an allreduce
/// that of `allreduce_optimum`, twice where switches copy or combine, of one root that of
/// `phase_optimum` there; else constant.
[[nodiscard]] RateFigures rate_figures(const Network& network, const SwitchRoles& roles,
                                       Collective collective, const Expected<Bound>& trees,
                                       std::optional<Rank> root = {},
                                       const std::stop_token& stop = {});

/// The same, with the bound found here; where links share capacities by `figures_within_limits`.
[[nodiscard]] RateFigures rate_figures(const Network& network, const SwitchRoles& roles,
                                       Collective collective, std::optional<Rank> root,
                                       const std::stop_token& stop = {});

/// Where links share capacities, by trees over GPUs: the joint optimum of a collective of all ranks
/// (`optimum_of_all`), of this one or of a phase of it.
using OptimumByTrees = std::function<Expected<JointOptimum>(Collective)>;

/// The figures there. Errors of figures: those of `by_trees`, `allreduce_optimum` and
/// `phase_optimum`. Cost: of an allreduce three calls of `by_trees`, else one; where switches copy
/// or combine for the collective, that of `allreduce_optimum` or `phase_optimum` as well.
[[nodiscard]] RateFigures figures_within_limits(const Network& network, const SwitchRoles& roles,
                                                Collective collective, std::optional<Rank> root,
                                                const OptimumByTrees& by_trees,
                                                const std::stop_token& stop = {});

/// Of an all-to-all: every pair has data of its own, so that switches can add nothing to `flows`.
[[nodiscard]] RateFigures rate_figures(const Expected<RateFigure>& flows);

}  // namespace forestcoll
