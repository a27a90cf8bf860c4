// Rates where links share capacities. The joint program knows no trees that branch at switches; the
// program of an allreduce does, and of one phase.
#include <algorithm>
#include <utility>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/figures.hpp"

namespace forestcoll {
namespace {

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

// What trees over GPUs reach is reached in any case.
Expected<RateFigure> at_least(const RateFigure& by_trees, const Ratio& upper,
                              const std::optional<Ratio>& reached) {
  const Ratio least = std::max(by_trees.at_least, reached.value_or(by_trees.at_least));
  return RateFigure{std::max(upper, least), least};
}

}  // namespace

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
    const auto in_network = allreduce_optimum(network, roles, {.stop = stop});
    if (!in_network) {
      figures.optimum = in_network.errors();
    } else {
      figures.optimum =
          at_least(figure, in_network->upper,
                   in_network->split ? std::optional(in_network->split->algbw) : std::nullopt);
    }
    figures.allreduce->in_network = in_network;
    return figures;
  }
  if (!is_able) return figures;
  const auto in_network = phase_optimum(network, roles, collective, root, {.stop = stop});
  if (!in_network) {
    figures.optimum = in_network.errors();
  } else {
    figures.optimum = at_least(figure, in_network->upper, in_network->reached());
  }
  return figures;
}

}  // namespace forestcoll
