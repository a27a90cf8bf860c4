#include "common/group_rates.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/report/alltoall_report.hpp"
#include "forestcoll/allreduce.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/synthesize.hpp"
#include "forestcoll/whole_collective.hpp"

namespace forestcoll::cli {
namespace {

std::optional<Ratio> rate_by_trees(const Network& network, Collective collective,
                                   std::optional<Rank> root) {
  if (!network.limits.empty()) {
    const auto optimum = optimum_of_all(network, operation_of_all(network, collective, root));
    return optimum ? std::optional(optimum->reached) : std::nullopt;
  }
  const auto in_turn = bound(network, collective, root);
  if (!in_turn) return std::nullopt;
  Ratio best = in_turn->algbw;
  if (collective == Collective::allreduce) {
    const auto at_once = allreduce_optimum(network);
    if (at_once && at_once->split) best = std::max(best, at_once->split->algbw);
  }
  return best;
}

// Relays never take anything away.
std::optional<GroupRates> where_it_differs(const GroupBeside& beside, std::string_view collective,
                                           const Ratio& rate, const Ratio& own) {
  const bool differs = beside.relays ? own < rate : rate < own;
  if (!differs) return std::nullopt;
  return GroupRates{beside.relays, beside.chosen, {{std::string(collective), rate}}};
}

std::string_view key_of(const GroupRates& rates) {
  return rates.relays ? "with_relays" : "without_relays";
}

}  // namespace

std::optional<GroupRates> group_rates(const Fabric& fabric, const CollectiveForest& forest,
                                      const Ratio& own) {
  if (!fabric.beside) return std::nullopt;
  const auto network = to_digraph(fabric.beside->topology);
  if (!network) return std::nullopt;
  const auto rate = rate_by_trees(*network, forest.collective, forest.root);
  if (!rate) return std::nullopt;
  return where_it_differs(*fabric.beside, to_string(forest.collective), *rate, own);
}

std::optional<GroupRates> group_rates(const Fabric& fabric, const ParsedDemand& demand,
                                      const AlltoallOptions& options, const Ratio& own) {
  if (!fabric.beside) return std::nullopt;
  const auto network = to_digraph(fabric.beside->topology);
  if (!network) return std::nullopt;
  const auto optimum = alltoall_optimum(*network, demand.demand, options);
  if (!optimum) return std::nullopt;
  const auto rates = rates_of(optimum->proof, demand);
  if (!rates) return std::nullopt;
  return where_it_differs(*fabric.beside, to_string(demand.demand.collective()), rates->algbw, own);
}

std::string in_words(const GroupRates& rates) {
  std::vector<std::string> each;
  for (const auto& [collective, algbw] : rates.algbw) {
    each.push_back(fmt::format("{} {}", collective, number(algbw)));
  }
  return fmt::format("{}: {} GB/s\n",
                     rates.relays ? "with relays (--relays: other GPUs forward; forests and "
                                    "flows only)"
                                  : "without relays (the group alone; XML and plans)",
                     fmt::join(each, ", "));
}

std::string summary_line(const GroupRates& rates, std::string_view formats) {
  const std::string algbw = number(rates.algbw.front().second);
  if (!rates.relays) {
    return fmt::format(
        "  GPUs outside of the group relay; the group alone (XML and plans) reaches {} GB/s",
        algbw);
  }
  return fmt::format("  the group runs alone; with the other GPUs as relays ({}{} only) {} GB/s",
                     rates.chosen ? "" : "--relays, ", formats, algbw);
}

void put_group_rates(Json& report, const GroupRates& rates) {
  for (const auto& [collective, algbw] : rates.algbw) {
    report[key_of(rates)][collective] = exact(algbw);
  }
}

void put_group_rate(Json& summary, const GroupRates& rates) {
  summary[key_of(rates)] = exact(rates.algbw.front().second);
}

}  // namespace forestcoll::cli
