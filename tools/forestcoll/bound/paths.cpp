#include "bound/paths.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>

#include "bound/within_limits.hpp"
#include "common/files/io.hpp"
#include "common/group_rates.hpp"
#include "common/options/collective_option.hpp"
#include "common/options/shared_options.hpp"
#include "common/options/solver_options.hpp"
#include "common/report/alltoall_report.hpp"
#include "common/report/json_version.hpp"
#include "common/report/lengths_report.hpp"
#include "common/report/progress_bar.hpp"
#include "common/report/rate_report.hpp"
#include "common/report/report.hpp"
#include "common/synthesis/default_schedule.hpp"
#include "forestcoll/alltoall.hpp"
#include "forestcoll/alltoall_optimum.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/demand.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll::cli {
namespace {

constexpr double kPercent = 100;

struct Request {
  AlltoallOptions solver;
  std::optional<double> seconds;
};

Expected<Request> resolve(const AlltoallArguments& arguments, int threads) {
  Request request;
  const auto processors = static_cast<int>(std::thread::hardware_concurrency());
  request.solver.threads = threads > 0 ? threads : std::max(1, processors);
  if (!arguments.gap.empty()) {
    std::string text = arguments.gap;
    if (text.back() == '%') text.pop_back();
    const auto percent = parse_ratio(text);
    if (!percent || *percent < Ratio(0) || *percent > Ratio(100)) {
      return make_error(
          Code::S03,
          fmt::format("--gap: expected percent from 0 to 100, found \"{}\"", arguments.gap),
          "write a number such as 0.2 or 1%");
    }
    request.solver.gap = percent->to_double() / kPercent;
  }
  if (!arguments.time_limit.empty()) {
    const auto seconds = parse_ratio(arguments.time_limit);
    if (!seconds || *seconds <= Ratio(0)) {
      return make_error(Code::S03,
                        fmt::format("--time-limit: expected a positive number of seconds, found "
                                    "\"{}\"",
                                    arguments.time_limit),
                        "write a number such as 60 or 0.5");
    }
    request.seconds = seconds->to_double();
  }
  return request;
}

std::string_view name_of(const ParsedDemand& demand) {
  return to_string(demand.demand.collective());
}

// A proof, and where links share capacities what it is by.
struct ProvedPaths {
  AlltoallProof proof;
  std::optional<ProvedByLengths> by = {};
};

Expected<ProvedPaths> optimum_of_paths(const Network& network, const Demand& demand,
                                       const AlltoallOptions& options) {
  if (!network.limits.empty()) {
    auto found = paths_within_limits(network, demand, options.stop);
    if (!found) return found.errors();
    return ProvedPaths{std::move(found->proof), std::move(found->by)};
  }
  auto optimum = alltoall_optimum(network, demand, options);
  if (!optimum) return optimum.errors();
  return ProvedPaths{std::move(optimum->proof)};
}

// By other code; says what came of it.
ExitCode check_paths(const ProvedPaths& proved, const Demand& demand, const Fabric& fabric,
                     const Console& console) {
  if (!proved.by) return check_alltoall(proved.proof, demand, fabric, console);
  const std::string wrong = flaw_of_lengths(*proved.by, fabric.network);
  say(fmt::format("{}", wrong));
  if (!wrong.empty()) return ExitCode::internal;
  note(console, "checked: independent code finds that the lengths prove the bound");
  return ExitCode::done;
}

// What schedules reach, and what a failure costs.
struct Findings {
  ThreeFigures figures;
  std::optional<FailurePrice> price;
  std::optional<GroupRates> group;
};

std::string text_report(const ProvedPaths& proved, const ParsedDemand& demand,
                        const AlltoallRates& rates, const Findings& found, const Fabric& fabric,
                        std::size_t top) {
  const AlltoallProof& proof = proved.proof;
  const Network& network = fabric.network;
  std::string text =
      fmt::format("{}: {}\n", fabric.topology.name, counted(network.ranks.size(), "GPU"));
  const auto shown = [&](const Ratio& rate) {
    return proof.is_exact() ? number(rate) : number(rate.to_double());
  };
  const std::string algbw = shown(rates.algbw), busbw = shown(rates.busbw);
  // Exact fractions can be long.
  const std::size_t width = std::max({std::size_t{18}, algbw.size(), busbw.size()}) + 2;
  for (const auto& [name, first, second] :
       {std::tuple<std::string_view, std::string_view, std::string_view>("collective", "algbw GB/s",
                                                                         "busbw GB/s"),
        {name_of(demand), algbw, busbw}}) {
    text += fmt::format("{:<16}{:>{}}{:>{}}\n", name, first, width, second, width);
  }
  text += rate_in_words(proof, demand.demand, rates);
  if (const auto& reached = found.figures.reached) {
    text += fmt::format("reached of {} by synth: {} GB/s, {}\n", name_of(demand), number(*reached),
                        of_optimum(*reached, found.figures.rates.optimum));
  }
  if (found.group) text += in_words(*found.group);
  if (found.price) text += in_words(std::vector{*found.price});
  if (proved.by) return text + bottleneck_in_words(*proved.by, fabric);
  return text + bottleneck_in_words(proof, demand.demand, fabric.topology, network, top);
}

Json json_report(const ProvedPaths& proved, const ParsedDemand& demand, const AlltoallRates& rates,
                 const Findings& found, const Fabric& fabric, const BoundArguments& options) {
  const AlltoallProof& proof = proved.proof;
  const bool is_exact = proof.is_exact();
  const std::string name(name_of(demand));
  Json report = {{"format", "forestcoll-bound"},
                 {"version", 3},
                 {"topology", fabric.topology.name},
                 {"compute_nodes", fabric.network.ranks.size()},
                 {"algbw", {{name, exact_or_reached(rates.algbw, is_exact)}}},
                 {"busbw", {{name, exact_or_reached(rates.busbw, is_exact)}}},
                 {"collective", name},
                 {name, to_json(proof, demand, fabric.topology, fabric.network)}};
  if (proved.by) {
    report[name].update(to_json(proved.by->optimum, fabric.topology, fabric.network));
  }
  Json figures;
  put_figures(figures, found.figures);
  for (const auto& [figure, value] : figures.items()) report[figure][name] = value;
  if (found.price) report["failure"][name] = to_json(*found.price);
  if (found.group) put_group_rates(report, *found.group);
  if (!fabric.changes.empty()) report["changes"] = fabric.changes;
  if (options.check) report["checked"] = true;
  if (!options.reading.quantize.empty()) report["quantize_change"] = exact(fabric.quantize_change);
  return report;
}

Expected<ThreeFigures> figures_of(const Fabric& fabric, const AlltoallProof& proof,
                                  const ParsedDemand& demand, const std::string& target,
                                  const Console& console) {
  const auto rates = rates_of(proof, demand);
  if (!rates) return rates.errors();
  return ThreeFigures{figures_of(*rates),
                      target.empty()
                          ? no_target("name a runtime with --target")
                          : reached_by_default(fabric, demand.demand.collective(),
                                               demand.demand.root(), target, console, demand)};
}

// The same demand on the fabric before it failed: blocks are of its own GPUs, a root is known by
// its id; unequal amounts are of as many GPUs.
std::optional<ParsedDemand> demand_before(const ParsedDemand& demand, const Fabric& after,
                                          const Fabric& before) {
  const std::size_t ranks = before.network.ranks.size();
  if (!demand.demand.is_of_blocks()) {
    return ranks == demand.demand.ranks() ? std::optional(demand) : std::nullopt;
  }
  const Collective collective = demand.demand.collective();
  const auto root = demand.demand.root();
  if (!root) return demand_of(collective, ranks, std::nullopt);
  const auto same = same_rank(after.topology, *root, before.topology);
  return same ? std::optional(demand_of(collective, ranks, *same)) : std::nullopt;
}

Expected<std::optional<FailurePrice>> price_of(const Fabric& fabric, const ParsedDemand& demand,
                                               const ThreeFigures& after,
                                               const AlltoallOptions& options,
                                               const std::string& target, const Console& console) {
  const auto whole = fabric_before(fabric);
  if (!whole) return whole.errors();
  if (!*whole) return std::optional<FailurePrice>();
  const Network& network = (*whole)->network;
  const auto known = demand_before(demand, fabric, **whole);
  if (!known) return std::optional<FailurePrice>();
  const ParsedDemand& same = *known;
  const auto optimum = optimum_of_paths(network, same.demand, options);
  if (!optimum) return optimum.errors();
  auto before = figures_of(**whole, optimum->proof, same, target, console);
  if (!before) return before.errors();
  FailurePrice price{
      .collective = std::string(name_of(demand)), .before = before->rates, .after = after.rates};
  if (!target.empty()) {
    price.reached_before = before->reached;
    price.reached_after = after.reached;
  }
  return std::optional(std::move(price));
}

}  // namespace

void add_alltoall_options(CLI::App& command, AlltoallArguments& arguments) {
  add_file_option(command, "--demand", arguments.demand,
                  "All-to-all-v: bytes that each GPU sends to each other one; CSV or a JSON array\n"
                  "of arrays with a row per sender (with -c alltoall)");
  const OptionGroup general(command);
  general.option("--gap", arguments.gap, "PERCENT",
                 "Accept a bound this near to what is reached where the optimum is not found\n"
                 "exactly; default 1 (with -c alltoall, scatter, gather)");
  general.option("--time-limit", arguments.time_limit, "SECONDS",
                 "Report the best interval after this many seconds (with -c alltoall, scatter,\n"
                 "gather)");
}

ExitCode check_alltoall(const AlltoallProof& proof, const Demand& demand, const Fabric& fabric,
                        const Console& console) {
  const std::string flaw = at_work("checking the proof", console, [&] {
    return find_alltoall_flaw(fabric.network, demand, proof);
  });
  if (flaw.empty()) {
    note(console, fmt::format("checked: independent code adds up the flows of the {} and its bound",
                              to_string(demand.collective())));
    return ExitCode::done;
  }
  say(
      fmt::format("forestcoll: internal error: the proof of the {} does not hold: {}; please "
                  "report it\n",
                  to_string(demand.collective()), flaw));
  return ExitCode::internal;
}

Expected<ExitCode> run_bound_of_paths(const Fabric& fabric, const BoundArguments& options,
                                      const Console& console) {
  const Collective collective = *collective_of(options.collective);
  const auto root = find_root(fabric.topology, collective, options.root);
  if (!root) return root.errors();
  const auto read = read_demand(fabric.network, collective, *root, options.alltoall.demand);
  if (!read) return read.errors();
  const ParsedDemand& demand = *read;
  auto request = resolve(options.alltoall, options.threads);
  if (!request) return request.errors();
  const auto optimum = at_work(fmt::format("finding the best {}", name_of(demand)), console, [&] {
    const TimeLimit limit(request->seconds);
    request->solver.stop = limit.token();
    return optimum_of_paths(fabric.network, demand.demand, request->solver);
  });
  if (!optimum) return optimum.errors();
  const AlltoallProof& proof = optimum->proof;
  const auto rates = rates_of(proof, demand);
  if (!rates) return rates.errors();
  if (options.check) {
    const ExitCode checked = check_paths(*optimum, demand.demand, fabric, console);
    if (checked != ExitCode::done) return checked;
  }
  const double apart = proof.at_most.to_double() / proof.reached.to_double() - 1;
  if (!proof.is_exact() && apart > request->solver.gap) {
    note(console, fmt::format("the gap of {} % was not reached: {} %",
                              number(kPercent * request->solver.gap), number(kPercent * apart)));
  }
  auto figures = figures_of(fabric, proof, demand, options.target, console);
  if (!figures) return figures.errors();
  auto price = price_of(fabric, demand, *figures, request->solver, options.target, console);
  if (!price) return price.errors();
  const Findings found{*std::move(figures), *std::move(price),
                       group_rates(fabric, demand, request->solver, rates->algbw)};
  const std::string report =
      options.json
          ? report_text(json_report(*optimum, demand, *rates, found, fabric, options), console)
          : text_report(*optimum, demand, *rates, found, fabric, options.top);
  return finish(write_output("-", report));
}

}  // namespace forestcoll::cli
