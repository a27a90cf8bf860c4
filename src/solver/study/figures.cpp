#include "forestcoll/figures.hpp"

#include <algorithm>
#include <utility>

#include "forestcoll/allreduce.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/rate.hpp"
#include "forestcoll/whole_collective.hpp"

namespace forestcoll {
namespace {

// What trees reach, as far as that is known; `floor` is reached in any case.
template <class Optimum>
Expected<RateFigure> figure_of(const Expected<Optimum>& known, const Ratio& floor) {
  if (!known) return known.errors();
  const Ratio reached = std::max(known->reached().value_or(floor), floor);
  return RateFigure{std::max(known->upper, reached), reached};
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

// Where links share capacities. The joint program knows no trees that branch at switches; the
// program of an allreduce does, and of one phase.
Expected<Ratio> rate_of(const OptimumByTrees& by_trees, Collective phase) {
  const auto optimum = by_trees(phase);
  if (!optimum) return optimum.errors();
  return optimum->at_most;
}

Expected<Ratio> in_turn(const Expected<Ratio>& first, const Expected<Ratio>& second) {
  if (!first) return first.errors();
  if (!second) return second.errors();
  const auto sum = checked_add(*first, *second);
  const auto product = checked_mul(*first, *second);
  const auto both = sum && product ? checked_div(*product, *sum) : std::nullopt;
  if (both) return *both;
  return inexact("the exact rate of both phases does not fit 64 bits");
}

AllreduceFigures allreduce_figures(const JointOptimum& optimum, const OptimumByTrees& by_trees) {
  AllreduceOptimum at_once{.upper = optimum.at_most, .statistics = {}};
  at_once.split = AllreduceSplit{optimum.reached, {}, {}};
  at_once.value = optimum.reached.to_double();
  return {in_turn(rate_of(by_trees, Collective::reduce_scatter),
                  rate_of(by_trees, Collective::allgather)),
          std::move(at_once)};
}

}  // namespace

RateFigures rate_figures(const Network& network, const SwitchRoles& roles, Collective collective,
                         const Expected<Bound>& trees, std::optional<Rank> root,
                         const std::stop_token& stop) {
  if (root && trees && has_able_switches(roles, collective)) {
    return {
        figure_of(phase_optimum(network, roles, collective, *root, {.stop = stop}), trees->algbw),
        RateFigure{trees->algbw, trees->algbw}};
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

RateFigures figures_within_limits(const Network& network, const SwitchRoles& roles,
                                  Collective collective, std::optional<Rank> root,
                                  const OptimumByTrees& by_trees, const std::stop_token& stop) {
  const auto optimum = by_trees(collective);
  if (!optimum) return {optimum.errors(), optimum.errors()};
  const RateFigure figure{optimum->at_most, optimum->reached};
  RateFigures figures{figure, figure};
  const bool is_able = has_able_switches(roles, collective);
  if (collective == Collective::allreduce) {
    figures.allreduce = allreduce_figures(*optimum, by_trees);
    if (!is_able) return figures;
    figures.allreduce->in_network = allreduce_optimum(network, roles, {.stop = stop});
    figures.optimum = figure_of(*figures.allreduce->in_network, figure.at_least);
  } else if (is_able) {
    figures.optimum =
        figure_of(phase_optimum(network, roles, collective, root, {.stop = stop}), figure.at_least);
  }
  return figures;
}

}  // namespace forestcoll
