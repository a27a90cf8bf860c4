#include "bound/answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "bound/within_limits.hpp"
#include "common/report/progress_bar.hpp"
#include "common/report/rate_report.hpp"
#include "common/report/report.hpp"
#include "common/synthesis/default_schedule.hpp"
#include "forestcoll/alltoall_optimum.hpp"
#include "forestcoll/demand.hpp"
#include "forestcoll/pack.hpp"
#include "forestcoll/synthesize.hpp"
#include "forestcoll/topology.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll::cli {
namespace {

// The optimum is what the row says; where it is not known, what trees reach.
Expected<BoundRow> row(Collective collective, std::optional<Rank> root, const Bound& trees,
                       const Fabric& fabric) {
  const Network& network = fabric.network;
  auto rates = rate_figures(network, switch_roles(fabric.topology), collective, trees, root);
  const Ratio algbw = rates.optimum ? rates.optimum->at_most : trees.algbw;
  const auto busbw = busbw_of(algbw, collective, network);
  if (!busbw) return busbw.errors();
  return BoundRow{collective, root, algbw, *busbw, std::move(rates)};
}

std::vector<PhaseBound> phases_of(const Bound& bound, const Network& network,
                                  std::optional<Rank> root) {
  const Weights weights = root ? single_root(network, *root) : shares(network);
  std::vector<PhaseBound> phases;
  if (const auto& rate = bound.broadcast_rate) {
    const Collective alone = root ? Collective::broadcast : Collective::allgather;
    phases.push_back(
        {alone, *rate, weights, find_bottleneck(network, *rate, CollectivePhase::broadcast)});
  }
  if (const auto& rate = bound.reduce_rate) {
    const Collective alone = root ? Collective::reduce : Collective::reduce_scatter;
    phases.push_back(
        {alone, *rate, weights, find_bottleneck(network, *rate, CollectivePhase::reduce)});
  }
  return phases;
}

Expected<BoundAnswer> solve_one(const Fabric& fabric, Collective collective,
                                std::optional<Rank> root) {
  const auto found = bound(fabric.network, collective, root);
  if (!found) return found.errors();
  auto line = row(collective, root, *found, fabric);
  if (!line) return line.errors();
  return BoundAnswer{{*std::move(line)}, phases_of(*found, fabric.network, root), found->k};
}

// The two phases of an allreduce are an allgather and a reduce_scatter: one solution serves three.
Expected<BoundAnswer> solve_three(const Fabric& fabric) {
  const Network& network = fabric.network;
  if (auto done = refuse_without_owner(network, Collective::allgather); !done) return done.errors();
  auto answer = solve_one(fabric, Collective::allreduce, {});
  if (!answer) return answer;
  const Weights weights = shares(network);
  const Ratio data(std::accumulate(weights.begin(), weights.end(), std::int64_t{0}));
  std::vector<BoundRow> rows;
  for (const PhaseBound& phase : answer->phases) {
    const auto algbw = checked_mul(data, phase.bottleneck.rate_per_root);
    if (!algbw) return inexact("the exact algbw of this fabric does not fit 64 bits");
    Bound alone;
    alone.algbw = *algbw;
    const bool is_reduce = phase.collective == Collective::reduce_scatter;
    (is_reduce ? alone.reduce_rate : alone.broadcast_rate) = phase.rate;
    auto line = row(phase.collective, {}, alone, fabric);
    if (!line) return line.errors();
    rows.push_back(*std::move(line));
  }
  answer->rows.insert(answer->rows.begin(), rows.begin(), rows.end());
  answer->k = scale_to_optimum(network, answer->phases.front().rate).k;
  return answer;
}

void add(const Fabric& fabric, Collective collective, std::optional<Rank> root,
         BoundAnswer& answer) {
  const auto alone = solve_one(fabric, collective, root);
  if (!alone) {
    answer.unknown.push_back({collective, alone.errors().front()});
    if (collective == Collective::allreduce) {
      answer.allreduce = rate_figures(fabric.network, switch_roles(fabric.topology), collective,
                                      Expected<Bound>(alone.errors()));
    }
    return;
  }
  if (answer.rows.empty()) answer.k = alone->k;
  answer.rows.push_back(alone->rows.front());
  // Those of an allreduce are there.
  if (collective != Collective::allreduce) answer.phases.push_back(alone->phases.front());
}

// Where the numbers of all together do not fit, each by itself.
Expected<BoundAnswer> solve_each(const Fabric& fabric) {
  BoundAnswer answer;
  for (const Collective collective :
       {Collective::allgather, Collective::reduce_scatter, Collective::allreduce}) {
    add(fabric, collective, {}, answer);
  }
  if (answer.phases.empty()) return answer.unknown.front().why;
  return answer;
}

// The same rate by other code: what the cuts allow, and where switches cost some of it, what the
// proof allows and what its part of the fabric reaches. What is found, where that differs.
std::optional<Ratio> other_rate(const Network& network, const Weights& weights, const Rate& rate) {
  const auto differs = [&](const std::optional<Ratio>& again, const Ratio& expected) {
    return again == expected ? std::nullopt : std::optional(again.value_or(Ratio(0)));
  };
  const Ratio of_cut(rate.bottleneck.weight, rate.bottleneck.exit);
  if (const auto other = differs(rate_by_bisection(network, weights), of_cut)) return other;
  if (!rate.part) return std::nullopt;
  const auto other = differs(rate_of_part(network, weights, *rate.part), rate.inverse);
  if (other || rate.inverse == of_cut) return other;
  return differs(rate_by_prices(network, weights, rate.part->proof), rate.inverse);
}

void add_switches(const Fabric& fabric, Rank root, BoundAnswer& answer) {
  const SwitchRoles roles = switch_roles(fabric.topology);
  for (const BoundRow& row : answer.rows) {
    if (!is_rooted(row.collective) || !has_able_switches(roles, row.collective)) continue;
    if (!row.rates.by_trees) continue;
    const Ratio without = row.rates.by_trees->at_most;
    auto optimum = phase_optimum(fabric.network, roles, row.collective, root);
    if (optimum && optimum->upper <= without) continue;
    answer.by_switches.push_back({row.collective, without, std::move(optimum)});
  }
}

// Of the linear program beside the other collectives: a few hundredths of a second.
constexpr std::size_t kQuickVariables = 1'500;

// The optimum where it is a matter of milliseconds, and exact.
std::optional<AlltoallProof> quick_alltoall(const Network& network) {
  AlltoallOptions options;
  options.gap = 1;  // any: no first-order method
  options.variables = kQuickVariables;
  auto optimum = alltoall_optimum(network, Demand::uniform(network.ranks.size()), options);
  if (!optimum || !optimum->proof.is_exact()) return std::nullopt;
  return std::move(optimum->proof);
}

std::optional<QuickAlltoall> alltoall_within_limits(const Network& network) {
  constexpr std::size_t kMostRanks = 16;  // of more it takes longer than all else
  if (network.ranks.size() > kMostRanks) return std::nullopt;
  auto found = paths_within_limits(network, Demand::uniform(network.ranks.size()));
  if (!found) return std::nullopt;
  const auto rates =
      rates_of(found->proof, demand_of(Collective::alltoall, network.ranks.size(), std::nullopt));
  if (!rates) return std::nullopt;
  return QuickAlltoall{std::move(found->proof), *rates, {}, std::move(found->by)};
}

}  // namespace

Expected<BoundAnswer> solve_bound(const Fabric& fabric, const BoundArguments& options) {
  if (!fabric.network.limits.empty()) return solve_within_limits(fabric, options);
  if (const auto collective = parse_collective(options.collective)) {
    const auto root = find_root(fabric.topology, *collective, options.root);
    if (!root) return root.errors();
    auto answer = solve_one(fabric, *collective, *root);
    if (answer && *root) add_switches(fabric, **root, *answer);
    return answer;
  }
  auto answer = solve_three(fabric);
  if (!answer) answer = solve_each(fabric);
  if (!answer || options.root.empty()) return answer;
  const auto root = find_rank(fabric.topology, options.root);
  if (!root) return root.errors();
  for (const Collective collective : {Collective::broadcast, Collective::reduce}) {
    add(fabric, collective, *root, *answer);
  }
  add_switches(fabric, *root, *answer);
  return answer;
}

const AllreduceFigures* find_allreduce(const BoundAnswer& answer) {
  if (answer.allreduce) return &*answer.allreduce->allreduce;
  const auto at = std::ranges::find(answer.rows, Collective::allreduce, &BoundRow::collective);
  return at == answer.rows.end() ? nullptr : &*at->rates.allreduce;
}

std::optional<QuickAlltoall> alltoall_beside(const BoundArguments& options,
                                             const Network& network) {
  if (!options.collective.empty()) return std::nullopt;
  if (!network.limits.empty()) return alltoall_within_limits(network);
  auto proof = quick_alltoall(network);
  if (!proof) return std::nullopt;
  const auto rates =
      rates_of(*proof, demand_of(Collective::alltoall, network.ranks.size(), std::nullopt));
  if (!rates) return std::nullopt;
  return QuickAlltoall{*std::move(proof), *rates};
}

void add_reached(BoundAnswer& answer, std::optional<QuickAlltoall>& alltoall, const Fabric& fabric,
                 const std::string& target, const Console& console) {
  for (BoundRow& row : answer.rows) {
    row.reached = reached_by_default(fabric, row.collective, row.root, target, console);
  }
  if (!alltoall) return;
  alltoall->reached =
      reached_by_default(fabric, Collective::alltoall, std::nullopt, target, console);
}

std::string disagreement(const BoundAnswer& answer, const Network& network,
                         const Console& console) {
  for (const ProvedByLengths& proved : answer.proved) {
    std::string flaw = flaw_of_lengths(proved, network);
    if (!flaw.empty()) return flaw;
  }
  ProgressBar bar("finding the rate again", console);
  double done = 0;
  for (const PhaseBound& phase : answer.phases) {
    bar.update(done++ / static_cast<double>(answer.phases.size()));
    const bool reduce = phase.bottleneck.phase == CollectivePhase::reduce;
    const auto again = other_rate(reduce ? reversed(network) : network, phase.weights, phase.rate);
    if (!again) continue;
    return fmt::format(
        "forestcoll: internal error: the rate of the {} phase is 1/x* = {}, and independent code "
        "finds {}; please report it\n",
        reduce ? "reduce" : "broadcast", phase.rate.inverse.to_string(), again->to_string());
  }
  return {};
}

}  // namespace forestcoll::cli
