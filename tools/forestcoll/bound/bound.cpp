// `forestcoll bound`: the optimal rate of a fabric, and the cut that proves it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bound/whatif_report.hpp"
#include "command.hpp"
#include "common/allreduce_report.hpp"
#include "common/alltoall_report.hpp"
#include "common/bottleneck.hpp"
#include "common/bound_alltoall.hpp"
#include "common/collective_option.hpp"
#include "common/fabric.hpp"
#include "common/io.hpp"
#include "common/jobs_option.hpp"
#include "common/named_files.hpp"
#include "common/progress_bar.hpp"
#include "common/report.hpp"
#include "forestcoll/allreduce_optimum.hpp"
#include "forestcoll/pack.hpp"
#include "forestcoll/switch_roles.hpp"
#include "forestcoll/synthesize.hpp"
#include "forestcoll/verify.hpp"
#include "forestcoll/whatif.hpp"

namespace forestcoll::cli {
namespace {

constexpr std::size_t kMostLines = 1'000'000;
constexpr std::size_t kUsualChanges = 10;  ///< lines of --whatif where --top does not say

struct BoundArguments {
  std::string topology;
  std::string collective;  ///< empty: all that need no root, and with a root all five
  std::string root;
  bool json = false;
  bool check = false;
  bool whatif = false;
  std::size_t top = 0;
  ReadingOptions reading;
  Failures failures;
  AlltoallArguments alltoall;
  int threads = 0;  ///< 0: all processors
};

// One phase of a collective, with its proof.
struct PhaseBound {
  Collective collective;  ///< the one that consists of this phase alone
  Rate rate;
  Weights weights;
  Bottleneck bottleneck;
};

struct Row {
  Collective collective;
  Ratio algbw, busbw;  ///< GB/s
};

struct Answer {
  std::vector<Row> rows;
  std::vector<PhaseBound> phases;
  std::int64_t k = 1;  ///< of the first row, like the first phase
};

// An allreduce by two phases in a row, by any trees, and by trees that branch at switches too.
struct Allreduce {
  Ratio two_phases;  ///< GB/s
  Expected<AllreduceOptimum> optimum;
  std::optional<Expected<AllreduceOptimum>> in_network;  ///< where switches can copy or combine
};

// Where allreduce is among the rows.
std::optional<Allreduce> best_allreduce(const Answer& answer, const Fabric& fabric) {
  for (const Row& row : answer.rows) {
    if (row.collective != Collective::allreduce) continue;
    Allreduce best{row.algbw, allreduce_optimum(fabric.network), {}};
    const SwitchRoles roles = switch_roles(fabric.topology);
    if (!roles.empty()) best.in_network = allreduce_optimum(fabric.network, roles);
    return best;
  }
  return std::nullopt;
}

Diagnostic too_large(const char* what) {
  return usage_error("E14", fmt::format("the exact {} of this fabric does not fit 64 bits", what),
                     "round the bandwidths to a coarser grid with --quantize");
}

Expected<Row> row(Collective collective, const Ratio& algbw, const Network& network) {
  const auto ranks = static_cast<std::int64_t>(network.ranks.size());
  const auto busbw = checked_mul(algbw, busbw_factor(collective, ranks));
  if (busbw) return Row{collective, algbw, *busbw};
  return too_large("busbw");
}

std::vector<PhaseBound> phases_of(const Bound& bound, const Network& network,
                                  std::optional<Rank> root) {
  const Weights weights = root ? single_root(network, *root) : shares(network);
  std::vector<PhaseBound> phases;
  if (const auto& rate = bound.broadcast_rate) {
    const Collective alone = root ? Collective::broadcast : Collective::allgather;
    phases.push_back({alone, *rate, weights, find_bottleneck(network, *rate, Phase::broadcast)});
  }
  if (const auto& rate = bound.reduce_rate) {
    const Collective alone = root ? Collective::reduce : Collective::reduce_scatter;
    phases.push_back({alone, *rate, weights, find_bottleneck(network, *rate, Phase::reduce)});
  }
  return phases;
}

Expected<Answer> solve_one(const Network& network, Collective collective,
                           std::optional<Rank> root) {
  const auto found = bound(network, collective, root);
  if (!found) return found.errors();
  const auto line = row(collective, found->algbw, network);
  if (!line) return line.errors();
  return Answer{{*line}, phases_of(*found, network, root), found->k};
}

// The two phases of an allreduce are an allgather and a reduce_scatter: one solution serves three.
Expected<Answer> solve_three(const Network& network) {
  auto answer = solve_one(network, Collective::allreduce, {});
  if (!answer) return answer;
  const Weights weights = shares(network);
  const Ratio data(std::accumulate(weights.begin(), weights.end(), std::int64_t{0}));
  std::vector<Row> rows;
  for (const PhaseBound& phase : answer->phases) {
    const auto algbw = checked_mul(data, phase.bottleneck.rate_per_root);
    if (!algbw) return too_large("algbw");
    const auto line = row(phase.collective, *algbw, network);
    if (!line) return line.errors();
    rows.push_back(*line);
  }
  answer->rows.insert(answer->rows.begin(), rows.begin(), rows.end());
  answer->k = scale_to_optimum(network, answer->phases.front().rate).k;
  return answer;
}

Expected<Answer> solve(const Fabric& fabric, const BoundArguments& options) {
  if (const auto collective = parse_collective(options.collective)) {
    const auto root = find_root(fabric.topology, *collective, options.root);
    if (!root) return root.errors();
    return solve_one(fabric.network, *collective, *root);
  }
  auto answer = solve_three(fabric.network);
  if (!answer || options.root.empty()) return answer;
  const auto root = find_rank(fabric.topology, options.root);
  if (!root) return root.errors();
  for (const Collective collective : {Collective::broadcast, Collective::reduce}) {
    const auto rooted = solve_one(fabric.network, collective, *root);
    if (!rooted) return rooted.errors();
    answer->rows.push_back(rooted->rows.front());
    answer->phases.push_back(rooted->phases.front());
  }
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

// What is wrong where one of them differs.
std::string disagreement(const Answer& answer, const Network& network, const Console& console) {
  ProgressBar bar("finding the rate again", console);
  double done = 0;
  for (const PhaseBound& phase : answer.phases) {
    bar.update(done++ / static_cast<double>(answer.phases.size()));
    const bool reduce = phase.bottleneck.phase == Phase::reduce;
    const auto again = other_rate(reduce ? reversed(network) : network, phase.weights, phase.rate);
    if (!again) continue;
    return fmt::format(
        "forestcoll: internal error: the rate of the {} phase is 1/x* = {}, and independent code "
        "finds {}; please report it\n",
        reduce ? "reduce" : "broadcast", phase.rate.inverse.to_string(), again->to_string());
  }
  return {};
}

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

// All-to-all beside the collectives by trees, where it is in the report.
struct QuickAlltoall {
  AlltoallProof proof;
  AlltoallRates rates;
};

std::optional<QuickAlltoall> alltoall_beside(const BoundArguments& options,
                                             const Network& network) {
  if (!options.collective.empty()) return std::nullopt;
  auto proof = quick_alltoall(network);
  if (!proof) return std::nullopt;
  const auto demand = Demand::uniform(network.ranks.size());
  const auto rates = rates_of(*proof, demand, uniform_total(network));
  if (!rates) return std::nullopt;
  return QuickAlltoall{*std::move(proof), *rates};
}

// Exact fractions can be long; columns are as wide as their longest.
std::string table(const std::vector<Row>& rows, const std::optional<QuickAlltoall>& alltoall) {
  constexpr std::size_t usual = 18, between = 2;
  std::size_t algbw = usual, busbw = usual;
  const auto widen = [&](const Ratio& first, const Ratio& second) {
    algbw = std::max(algbw, number(first).size());
    busbw = std::max(busbw, number(second).size());
  };
  for (const Row& row : rows) widen(row.algbw, row.busbw);
  if (alltoall) widen(alltoall->rates.algbw, alltoall->rates.busbw);
  const auto line = [&](std::string_view name, std::string_view first, std::string_view second) {
    return fmt::format("{:<16}{:>{}}{:>{}}\n", name, first, algbw + between, second,
                       busbw + between);
  };
  std::string text = line("collective", "algbw GB/s", "busbw GB/s");
  for (const Row& row : rows) {
    text += line(to_string(row.collective), number(row.algbw), number(row.busbw));
  }
  if (alltoall) {
    text += line("alltoall", number(alltoall->rates.algbw), number(alltoall->rates.busbw));
  }
  return text;
}

std::string text_report(const Answer& answer, const std::optional<Allreduce>& allreduce,
                        const std::optional<QuickAlltoall>& alltoall, const Fabric& fabric,
                        const BoundArguments& options) {
  std::string text =
      fmt::format("{}: {}\n", fabric.topology.name, counted(fabric.network.ranks.size(), "GPU"));
  text += table(answer.rows, alltoall);
  if (allreduce) text += in_words(allreduce->optimum, allreduce->two_phases);
  if (allreduce && allreduce->in_network) {
    text += in_network_in_words(*allreduce->in_network, allreduce->optimum, allreduce->two_phases);
  }
  if (const auto& weight = fabric.network.weight; !weight.empty()) {
    text += weights_line(weight);
  }
  text += fmt::format("k = {}: so many trees per root reach the rate of {}\n", answer.k,
                      to_string(answer.rows.front().collective));
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
  if (alltoall) {
    text += bottleneck_in_words(alltoall->proof, Demand::uniform(fabric.network.ranks.size()),
                                fabric.topology, fabric.network, options.top);
  }
  return text;
}

Json json_report(const Answer& answer, const std::optional<Allreduce>& allreduce,
                 const std::optional<QuickAlltoall>& alltoall, const Fabric& fabric,
                 const BoundArguments& options) {
  Json algbw = Json::object();
  Json busbw = Json::object();
  for (const Row& row : answer.rows) {
    const std::string name(to_string(row.collective));
    algbw[name] = exact(row.algbw);
    busbw[name] = exact(row.busbw);
  }
  if (alltoall) {
    algbw["alltoall"] = exact(alltoall->rates.algbw);
    busbw["alltoall"] = exact(alltoall->rates.busbw);
  }
  const Bottleneck& bottleneck = answer.phases.front().bottleneck;
  Json report = {{"format", "forestcoll-bound"},
                 {"version", 1},
                 {"topology", fabric.topology.name},
                 {"compute_nodes", fabric.network.ranks.size()},
                 {"rate_per_root", exact(bottleneck.rate_per_root)},
                 {"algbw", algbw},
                 {"busbw", busbw},
                 {"collective", to_string(answer.rows.front().collective)},
                 {"k", answer.k},
                 {"bottleneck", to_json(bottleneck, fabric.topology)}};
  if (allreduce) {
    report["allreduce_optimum"] = to_json(allreduce->optimum, allreduce->two_phases);
    if (const auto& best = allreduce->in_network) {
      report["allreduce_in_network"] = to_json(*best, allreduce->two_phases);
    }
  }
  if (alltoall) {
    report["alltoall"] = to_json(alltoall->proof, Demand::uniform(fabric.network.ranks.size()),
                                 uniform_total(fabric.network), fabric.topology, fabric.network);
  }
  if (const auto& weight = fabric.network.weight; !weight.empty()) {
    report["weights"] = std::vector<std::int64_t>(weight.begin(), weight.end());
  }
  if (!fabric.changes.empty()) report["changes"] = fabric.changes;
  if (options.check) report["checked"] = true;
  if (!options.reading.quantize.empty()) report["quantize_change"] = exact(fabric.quantize_change);
  return report;
}

// Of the first collective that is reported.
Expected<WhatIfOptions> what_if_options(const Fabric& fabric, const BoundArguments& options) {
  WhatIfOptions of_library;
  const auto collective = parse_collective(options.collective);
  if (!collective) return of_library;
  const auto root = find_root(fabric.topology, *collective, options.root);
  if (!root) return root.errors();
  of_library.collective = *collective;
  of_library.root = *root;
  return of_library;
}

Expected<WhatIf> explore(const Fabric& fabric, WhatIfOptions options, const Console& console) {
  ProgressBar bar("what if", console);
  options.progress = [&](std::size_t done, std::size_t all) {
    bar.update(static_cast<double>(done) / static_cast<double>(all));
  };
  return what_if(fabric.topology, options);
}

// Options of all-to-all and of trees do not go together.
std::optional<Diagnostic> misplaced_option(const BoundArguments& options) {
  const bool alltoall = options.collective == kAlltoall;
  if (!alltoall && options.alltoall.given()) {
    return usage_error("S04", "--demand, --gap and --time-limit are of -c alltoall",
                       "add -c alltoall, or leave them out");
  }
  if (alltoall && !options.root.empty()) {
    return usage_error("S02", "an alltoall has no root", "leave out --root");
  }
  if (alltoall && options.whatif) {
    return usage_error("S04", "--whatif does not know alltoall",
                       "use --drop and --derate for one failure at a time");
  }
  return std::nullopt;
}

ExitCode run_bound(const BoundArguments& options, const Console& console) {
  if (auto error = misplaced_option(options)) return fail({*std::move(error)}, console);
  if (auto error = refuse_clashes({{"topology file", options.topology},
                                   {"--box file", options.reading.dump.box},
                                   {"--demand file", options.alltoall.demand}},
                                  {{"the report", "-"}})) {
    return fail({*std::move(error)}, console);
  }
  const auto fabric = load_fabric(options.topology, options.reading, options.failures, console);
  if (!fabric) return fail(fabric.errors(), console);
  report_reading(*fabric, options.reading, console);
  if (options.collective == kAlltoall) {
    return run_bound_alltoall(*fabric, options.alltoall,
                              {.json = options.json,
                               .check = options.check,
                               .quantized = !options.reading.quantize.empty(),
                               .top = options.top,
                               .threads = options.threads},
                              console);
  }
  const auto answer = at_work("finding the rate", console, [&] { return solve(*fabric, options); });
  if (!answer) return fail(answer.errors(), console);
  if (options.check) {
    const std::string wrong = disagreement(*answer, fabric->network, console);
    say(fmt::format("{}", wrong));
    if (!wrong.empty()) return ExitCode::internal;
    note(console, "checked: bisection on independent code finds the same rate");
  }
  const auto allreduce = at_work("finding the best allreduce", console,
                                 [&] { return best_allreduce(*answer, *fabric); });
  const auto alltoall = at_work("finding the best all-to-all", console,
                                [&] { return alltoall_beside(options, fabric->network); });
  if (options.check && alltoall) {
    const auto demand = Demand::uniform(fabric->network.ranks.size());
    const ExitCode checked = check_alltoall(alltoall->proof, demand, *fabric, console);
    if (checked != ExitCode::done) return checked;
  }
  Json json = at_work("writing the report", console,
                      [&] { return json_report(*answer, allreduce, alltoall, *fabric, options); });
  std::string text = at_work("writing the report", console, [&] {
    return text_report(*answer, allreduce, alltoall, *fabric, options);
  });
  if (options.whatif) {
    const auto asked = what_if_options(*fabric, options);
    if (!asked) return fail(asked.errors(), console);
    const auto changes = explore(*fabric, *asked, console);
    if (!changes) return fail(changes.errors(), console);
    json["what_if"] = to_json(*changes, fabric->topology, *asked);
    text += in_words(*changes, fabric->topology, *asked,
                     options.top == 0 ? kUsualChanges : options.top);
  }
  const std::string report = options.json ? to_text(json) : text;
  if (auto error = write_output("-", report)) return fail({*std::move(error)}, console);
  return ExitCode::done;
}

}  // namespace

Command add_bound(CLI::App& program) {
  auto options = std::make_shared<BoundArguments>();
  CLI::App* command = program.add_subcommand(
      "bound", "The optimal rate of a fabric, and the bottleneck that proves it");
  command->add_option("TOPOLOGY", options->topology, "Topology file, or - for standard input")
      ->required();
  add_collective_or_alltoall_option(
      *command, options->collective,
      "Only this collective (default: allgather, reduce_scatter and allreduce, and alltoall where\n"
      "that is quick)");
  command->add_option("--root", options->root, "Root of broadcast and reduce: a GPU's id or rank")
      ->type_name("GPU");
  command->add_flag("--json", options->json, "Report as JSON (format forestcoll-bound, version 1)");
  command->add_flag("--check", options->check,
                    "Compute the rate again by bisection, in independent code; they must agree");
  command->add_flag(
      "--whatif", options->whatif,
      "Rank the links, their single cables, nodes and boxes by what their failure costs, "
      "and the upgrades that pay, each solved exactly");
  command
      ->add_option("--top", options->top,
                   "List the N largest links of the bottleneck, and N lines of --whatif (the "
                   "report in text)")
      ->check(CLI::Range(std::size_t{1}, kMostLines).description(""))
      ->type_name("N");
  add_alltoall_options(*command, options->alltoall);
  add_jobs_option(*command, options->threads,
                  "The most threads to use, of a large irregular alltoall (default: all\n"
                  "processors); other work takes one");
  add_failure_options(*command, options->failures);
  add_reading_options(*command, options->reading);
  command->footer(
      "algbw is the size of the whole buffer divided by the time, busbw what nccl-tests makes of\n"
      "it. The bottleneck is the set of nodes whose data needs longest to leave it (for a\n"
      "reduce_scatter: to enter it). No schedule in shares as given is faster (an allreduce: none\n"
      "of two phases, see below), and `synth -k optimal` reaches it. Where more enters a switch "
      "than\n"
      "leaves it, or less, the rate is that of the best part of the fabric that trees can use.\n"
      "Where nodes have weights, the buffer is what all of them own together, and the rate per "
      "root\n"
      "is that of a root of weight 1 once all weights are in lowest integers.\n"
      "\n"
      "allreduce is a reduce_scatter and then an allgather. The best allreduce by trees reduces\n"
      "and broadcasts at the same time, and may root more data at some GPUs than at others:\n"
      "`synth` makes it where it is better. Where the\n"
      "file says that switches copy (\"multicast\") or combine (\"reduce\"), a second line has "
      "the\n"
      "best with trees that branch there.\n"
      "\n"
      "alltoall is the best concurrent flow of equal blocks between all GPUs, whatever their\n"
      "weights, along any paths, or with --demand of any amounts. It is exact on fabrics that are\n"
      "small or regular; else it is an interval: what flows reach, and a bound that lengths of "
      "the\n"
      "links prove.\n"
      "\n"
      "Examples:\n"
      "  forestcoll bound topologies/dgx-a100-x2.json\n"
      "  forestcoll bound topologies/dragonfly-72.json -c alltoall --check\n"
      "  forestcoll bound topologies/dgx-a100-x2.json --json --check\n"
      "  forestcoll bound topologies/dgx-1-v100.json -c broadcast --root 0\n"
      "  forestcoll bound topologies/dgx-a100-x4.json --whatif --top 5\n"
      "  forestcoll bound topologies/dgx-a100-x2.json --drop box0/nic3~ib1 --derate kind=pcie=1/2\n"
      "\n"
      "Exit codes: 0 done, 2 wrong input, 3 too large for exact arithmetic, 4 cannot read or\n"
      "write, 70 a bug of ours (with --check: the two rates differ).");
  return {command, [options](const Console& console) { return run_bound(*options, console); }};
}

}  // namespace forestcoll::cli
