#include "forestcoll/figures.hpp"

#include <algorithm>
#include <utility>

#include "forestcoll/allreduce.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/rate.hpp"
#include "forestcoll/whole_collective.hpp"

namespace forestcoll {
namespace {

// What trees reach of an allreduce, as far as that is known; `floor` is reached in any case.
Expected<RateFigure> figure_of(const Expected<AllreduceOptimum>& known, const Ratio& floor) {
  if (!known) return known.errors();
  const Ratio reached = known->split ? known->split->algbw : Ratio(0);
  return RateFigure{known->upper, std::max(reached, floor)};
}

RateFigures of_allreduce(const Network& network, const SwitchRoles& roles,
                         const Expected<Ratio>& two_phases, const std::stop_token& stop) {
  const AllreduceLimits limits{.stop = stop};
  AllreduceFigures known{two_phases, allreduce_optimum(network, {}, limits)};
  if (!roles.empty()) known.in_network = allreduce_optimum(network, roles, limits);
  const Ratio in_turn = two_phases ? *two_phases : Ratio(0);
  const auto by_trees = figure_of(known.by_trees, in_turn);
  const auto optimum = known.in_network
                           ? figure_of(*known.in_network, by_trees ? by_trees->at_least : in_turn)
                           : by_trees;
  return {optimum, by_trees, std::move(known)};
}

// What a phase's cut allows, where unbalanced switches keep trees from it: GB/s.
std::optional<Ratio> allowed_by_cut(const Rate& rate, const Ratio& algbw) {
  const auto share = checked_mul(rate.inverse, Ratio(rate.bottleneck.exit, rate.bottleneck.weight));
  return share ? checked_mul(algbw, *share) : std::nullopt;
}

// Of a collective of one phase.
RateFigures of_phase(Collective collective, const SwitchRoles& roles,
                     const Expected<Bound>& trees) {
  if (!trees) return {trees.errors(), trees.errors()};
  const RateFigure by_trees{trees->algbw, trees->algbw};
  if (!has_able_switches(roles, collective)) return {by_trees, by_trees};
  const Rate& rate = trees->reduce_rate ? *trees->reduce_rate : *trees->broadcast_rate;
  const auto most = allowed_by_cut(rate, trees->algbw);
  if (most) return {RateFigure{*most, trees->algbw}, by_trees};
  return {inexact("the exact rate that the cuts allow does not fit 64 bits"), by_trees};
}

// Of one root, whose trees over GPUs reach `trees`.
RateFigures of_root(const Ratio& trees, const Expected<PhaseOptimum>& known) {
  const RateFigure by_trees{trees, trees};
  if (!known) return {known.errors(), by_trees};
  const Ratio reached = std::max(trees, known->reached().value_or(trees));
  return {RateFigure{std::max(known->upper, reached), reached}, by_trees};
}

}  // namespace

RateFigures rate_figures(const Network& network, const SwitchRoles& roles, Collective collective,
                         const Expected<Bound>& trees, std::optional<Rank> root,
                         const std::stop_token& stop) {
  if (root && trees && has_able_switches(roles, collective)) {
    return of_root(trees->algbw, phase_optimum(network, roles, collective, *root, {.stop = stop}));
  }
  if (collective != Collective::allreduce) return of_phase(collective, roles, trees);
  return of_allreduce(network, roles,
                      trees ? Expected<Ratio>(trees->algbw) : Expected<Ratio>(trees.errors()),
                      stop);
}

RateFigures rate_figures(const Network& network, const SwitchRoles& roles, Collective collective,
                         std::optional<Rank> root, const std::stop_token& stop) {
  if (network.limits.empty()) {
    return rate_figures(network, roles, collective, bound(network, collective, root), root, stop);
  }
  return figures_within_limits(
      network, roles, collective, root,
      [&](Collective one) {
        return optimum_of_all(network, operation_of_all(network, one, root), {.stop = stop});
      },
      stop);
}

RateFigures rate_figures(const Expected<RateFigure>& flows) {
  return {flows, flows};
}

}  // namespace forestcoll
