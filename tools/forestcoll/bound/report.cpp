#include "bound/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "bound/within_limits.hpp"
#include "common/report/allreduce_report.hpp"
#include "common/report/lengths_report.hpp"
#include "common/report/rate_report.hpp"
#include "common/synthesis/default_schedule.hpp"

namespace forestcoll::cli {
namespace {

// "weights: 12 ranks own 1, 4 ranks own 2": in lowest integers.
std::string weights_line(const Weights& weights) {
  std::map<std::int64_t, std::size_t> ranks_by_weight;
  for (const std::int64_t weight : weights) ++ranks_by_weight[weight];
  std::string text;
  for (const auto& [weight, ranks] : ranks_by_weight) {
    text += fmt::format("{} {} own{} {}", text.empty() ? "weights:" : ",", counted(ranks, "rank"),
                        ranks == 1 ? "s" : "", weight);
  }
  return text + "\n";
}

// Exact fractions can be long; columns are as wide as their longest.
std::string table(const std::vector<BoundRow>& rows, const std::optional<QuickAlltoall>& alltoall) {
  constexpr std::size_t kUsual = 18, kBetween = 2;
  std::size_t algbw = kUsual, busbw = kUsual;
  const auto widen = [&](const Ratio& first, const Ratio& second) {
    algbw = std::max(algbw, number(first).size());
    busbw = std::max(busbw, number(second).size());
  };
  for (const BoundRow& row : rows) widen(row.algbw, row.busbw);
  if (alltoall) widen(alltoall->rates.algbw, alltoall->rates.busbw);
  const auto line = [&](std::string_view name, std::string_view first, std::string_view second) {
    return fmt::format("{:<16}{:>{}}{:>{}}\n", name, first, algbw + kBetween, second,
                       busbw + kBetween);
  };
  std::string text = line("collective", "algbw GB/s", "busbw GB/s");
  for (const BoundRow& row : rows) {
    text += line(to_string(row.collective), number(row.algbw), number(row.busbw));
  }
  if (alltoall) {
    text += line("alltoall", number(alltoall->rates.algbw), number(alltoall->rates.busbw));
  }
  return text;
}

// What is to be known of an allreduce beside its row: what trees over GPUs have, and switches add.
std::string allreduce_lines(const BoundAnswer& answer) {
  const AllreduceFigures* known = find_allreduce(answer);
  if (known == nullptr) return "";
  std::string text = in_words(known->by_trees, known->two_phases);
  if (known->in_network) {
    text += in_network_in_words(*known->in_network, known->by_trees, known->two_phases);
  }
  return text;
}

// Where unbalanced switches copy or combine, of one phase.
std::string open_lines(const BoundAnswer& answer) {
  std::string text;
  for (const BoundRow& row : answer.rows) {
    if (row.collective == Collective::allreduce || !differ(row.rates)) continue;
    if (!row.rates.optimum) {
      text += fmt::format("optimum of {}: {}\n", to_string(row.collective),
                          in_words(row.rates.optimum));
      continue;
    }
    text += fmt::format("optimum of {0}: {1} GB/s; by trees: {2} GB/s\n", to_string(row.collective),
                        in_words(row.rates.optimum), in_words(row.rates.by_trees));
  }
  return text;
}

std::string reached_line(const BoundRow& row, const std::string& target) {
  const Expected<Ratio>& reached = *row.reached;
  return fmt::format("{} as synth writes it for {}: {}\n", to_string(row.collective), target,
                     reached ? fmt::format("{} GB/s, {}", number(*reached),
                                           of_optimum(*reached, row.rates.optimum))
                             : in_words(reached));
}

Json figures_json(const BoundFindings& found) {
  Json json = Json::object();
  const auto add = [&](std::string_view name, const RateFigures& rates,
                       const std::optional<Expected<Ratio>>& reached) {
    Json one;
    put_figures(one, three_figures(rates, reached));
    for (const auto& [figure, value] : one.items()) json[figure][std::string(name)] = value;
  };
  for (const BoundRow& row : found.answer.rows) {
    add(to_string(row.collective), row.rates, row.reached);
  }
  if (found.alltoall) add("alltoall", figures_of(found.alltoall->rates), found.alltoall->reached);
  return json;
}

void put_allreduce(Json& report, const BoundAnswer& answer) {
  const AllreduceFigures* known = find_allreduce(answer);
  if (known == nullptr) return;
  if (known->two_phases) report["two_phases"] = exact(*known->two_phases);
  report["allreduce_optimum"] = to_json(known->by_trees, known->two_phases);
  if (known->in_network) {
    report["allreduce_in_network"] = to_json(*known->in_network, known->two_phases);
  }
}

Json rate_per_root(const BoundAnswer& answer) {
  if (answer.proved.empty()) return exact(answer.phases.front().bottleneck.rate_per_root);
  return answer.rate_per_root ? exact(*answer.rate_per_root) : Json(nullptr);
}

// A cut with k, or where links share capacities lengths, of the other rows, too.
void put_bottleneck(Json& report, const BoundAnswer& answer, const Fabric& fabric) {
  if (answer.proved.empty()) {
    report["k"] = answer.k;
    report["bottleneck"] = to_json(answer.phases.front().bottleneck, fabric.topology);
    return;
  }
  const auto lengths = [&](const ProvedByLengths& proved) {
    return to_json(proved.optimum, fabric.topology, fabric.network);
  };
  report["bottleneck"] = lengths(answer.proved.front());
  for (const ProvedByLengths& proved : answer.proved) {
    report["bottlenecks"][std::string(to_string(proved.collective))] = lengths(proved);
  }
}

}  // namespace

ThreeFigures three_figures(const RateFigures& rates,
                           const std::optional<Expected<Ratio>>& reached) {
  if (reached) return {rates, *reached};
  return {rates, no_target("name a runtime with --target")};
}

std::string bound_in_words(const BoundFindings& found, const Fabric& fabric,
                           const BoundArguments& options) {
  const BoundAnswer& answer = found.answer;
  const auto& alltoall = found.alltoall;
  std::string text =
      fmt::format("{}: {}\n", fabric.topology.name, counted(fabric.network.ranks.size(), "GPU"));
  text += table(answer.rows, alltoall);
  for (const UnknownBound& row : answer.unknown) {
    text += fmt::format("{}: {}\n", to_string(row.collective), not_computed(row.why));
  }
  text += allreduce_lines(answer) + open_lines(answer);
  for (const FasterBySwitches& faster : answer.by_switches) {
    text += in_network_in_words(faster.collective, faster.optimum, faster.without);
  }
  for (const BoundRow& row : answer.rows) {
    if (row.reached && !fabric.before) text += reached_line(row, options.target);
  }
  if (found.group) text += in_words(*found.group);
  text += in_words(found.prices);
  if (const auto& weight = fabric.network.weight; !weight.empty()) {
    text += weights_line(weight);
  }
  if (answer.proved.empty()) {
    text += fmt::format("trees per root at the optimum: k = {} ({})\n", answer.k,
                        to_string(answer.rows.front().collective));
  }
  for (const ProvedByLengths& proved : answer.proved) text += bottleneck_in_words(proved, fabric);
  // On a fabric that is alike in both directions a second phase would say the same again.
  std::optional<Ratio> said;
  for (const PhaseBound& phase : answer.phases) {
    if (said == phase.rate.inverse) continue;
    said = phase.rate.inverse;
    text += fmt::format("bottleneck of {}: {}\n", to_string(phase.collective),
                        in_words(phase.bottleneck, fabric.topology));
    for (const CrossingLink& link : largest_links(phase.bottleneck.links, options.top)) {
      text += fmt::format("  {} -> {}: {} GB/s\n", fabric.topology.nodes[link.src].id,
                          fabric.topology.nodes[link.dst].id, number(link.bandwidth));
    }
  }
  if (alltoall && alltoall->proved) {
    text += bottleneck_in_words(*alltoall->proved, fabric);
  } else if (alltoall) {
    text += bottleneck_in_words(alltoall->proof, Demand::uniform(fabric.network.ranks.size()),
                                fabric.topology, fabric.network, options.top);
  }
  return text;
}

Json bound_to_json(const BoundFindings& found, const Fabric& fabric,
                   const BoundArguments& options) {
  const BoundAnswer& answer = found.answer;
  const auto& alltoall = found.alltoall;
  Json algbw = Json::object();
  Json busbw = Json::object();
  for (const BoundRow& row : answer.rows) {
    const std::string name(to_string(row.collective));
    algbw[name] = exact(row.algbw);
    busbw[name] = exact(row.busbw);
  }
  if (alltoall) {
    algbw["alltoall"] = exact(alltoall->rates.algbw);
    busbw["alltoall"] = exact(alltoall->rates.busbw);
  }
  Json report = {{"format", "forestcoll-bound"},
                 {"version", 3},
                 {"topology", fabric.topology.name},
                 {"compute_nodes", fabric.network.ranks.size()},
                 {"rate_per_root", rate_per_root(answer)},
                 {"algbw", algbw},
                 {"busbw", busbw},
                 {"collective", to_string(answer.rows.front().collective)}};
  const auto rooted =
      std::ranges::find_if(answer.rows, [](const BoundRow& row) { return row.root.has_value(); });
  if (rooted != answer.rows.end()) {
    report["root"] = fabric.topology.nodes[fabric.topology.ranks[rooted->root->index()]].id;
  }
  put_bottleneck(report, answer, fabric);
  report.update(figures_json(found));
  for (const UnknownBound& row : answer.unknown) {
    report["not_computed"][std::string(to_string(row.collective))] = to_json(row.why);
  }
  put_allreduce(report, answer);
  for (const FailurePrice& price : found.prices) {
    report["failure"][price.collective] = to_json(price);
  }
  for (const FasterBySwitches& faster : answer.by_switches) {
    report["in_network"][std::string(to_string(faster.collective))] = to_json(faster.optimum);
  }
  if (alltoall) {
    report["alltoall"] = to_json(
        alltoall->proof, demand_of(Collective::alltoall, fabric.network.ranks.size(), std::nullopt),
        fabric.topology, fabric.network);
    if (alltoall->proved)
      report["alltoall"].update(
          to_json(alltoall->proved->optimum, fabric.topology, fabric.network));
  }
  if (const auto& weight = fabric.network.weight; !weight.empty()) {
    report["weights"] = std::vector<std::int64_t>(weight.begin(), weight.end());
  }
  if (found.group) put_group_rates(report, *found.group);
  if (!fabric.changes.empty()) report["changes"] = fabric.changes;
  if (options.check) report["checked"] = true;
  if (!options.reading.quantize.empty()) report["quantize_change"] = exact(fabric.quantize_change);
  return report;
}

}  // namespace forestcoll::cli
