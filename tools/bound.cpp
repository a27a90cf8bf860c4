// `forestcoll bound`: the optimal rate of a fabric, and the cut that proves it.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bottleneck.hpp"
#include "command.hpp"
#include "fabric.hpp"
#include "forestcoll/pack.hpp"
#include "forestcoll/synthesize.hpp"
#include "forestcoll/verify.hpp"
#include "io.hpp"
#include "report.hpp"

namespace forestcoll::cli {
namespace {

struct Options {
  std::string topology;
  std::string collective;  ///< empty: all that need no root, and with a root all five
  std::string root;
  bool json = false;
  bool check = false;
  std::size_t top = 0;
  ReadingOptions reading;
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

Expected<Row> row(Collective collective, const Ratio& algbw, const Network& network) {
  const auto ranks = static_cast<std::int64_t>(network.ranks.size());
  const auto busbw = checked_mul(algbw, busbw_factor(collective, ranks));
  if (busbw) return Row{collective, algbw, *busbw};
  Diagnostic error = usage_error("E14", "the exact busbw of this fabric does not fit 64 bits",
                                 "round the bandwidths to a coarser grid with --quantize");
  error.kind = ErrorKind::limit;
  return error;
}

std::vector<PhaseBound> phases_of(const Bound& bound, const Network& network,
                                  std::optional<Rank> root) {
  const Weights weights = root ? single_root(network, *root) : uniform_weights(network);
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
  const Ratio ranks(static_cast<std::int64_t>(network.ranks.size()));
  std::vector<Row> rows;
  for (const PhaseBound& phase : answer->phases) {
    const auto line = row(phase.collective, ranks * phase.bottleneck.rate_per_root, network);
    if (!line) return line.errors();
    rows.push_back(*line);
  }
  answer->rows.insert(answer->rows.begin(), rows.begin(), rows.end());
  answer->k = scale_to_optimum(network, answer->phases.front().rate).k;
  return answer;
}

Expected<Answer> solve(const Fabric& fabric, const Options& options) {
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

// The same rates by other code; false, and says so, where one of them differs.
bool rates_agree(const Answer& answer, const Network& network) {
  for (const PhaseBound& phase : answer.phases) {
    const bool reduce = phase.bottleneck.phase == Phase::reduce;
    const Ratio again = reduce ? rate_by_bisection(reversed(network), phase.weights)
                               : rate_by_bisection(network, phase.weights);
    if (again == phase.rate.inverse) continue;
    fmt::print(stderr,
               "forestcoll: internal error: the rate of the {} phase is 1/x* = {}, and bisection "
               "finds {}; please report it\n",
               reduce ? "reduce" : "broadcast", phase.rate.inverse.to_string(), again.to_string());
    return false;
  }
  return true;
}

std::string text_report(const Answer& answer, const Fabric& fabric, const Options& options) {
  std::string text =
      fmt::format("{}: {}\n", fabric.topology.name, counted(fabric.network.ranks.size(), "GPU"));
  text += fmt::format("{:<16}{:>20}{:>20}\n", "collective", "algbw GB/s", "busbw GB/s");
  for (const Row& row : answer.rows) {
    text += fmt::format("{:<16}{:>20}{:>20}\n", to_string(row.collective), number(row.algbw),
                        number(row.busbw));
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
    for (const CrossingLink& link : largest_links(phase.bottleneck, options.top)) {
      text += fmt::format("  {} -> {}: {} GB/s\n", fabric.topology.nodes[link.src].id,
                          fabric.topology.nodes[link.dst].id, number(link.bandwidth));
    }
  }
  return text;
}

Json json_report(const Answer& answer, const Fabric& fabric, const Options& options) {
  Json algbw = Json::object();
  Json busbw = Json::object();
  for (const Row& row : answer.rows) {
    const std::string name(to_string(row.collective));
    algbw[name] = exact(row.algbw);
    busbw[name] = exact(row.busbw);
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
  if (options.check) report["checked"] = true;
  if (!options.reading.quantize.empty()) report["quantize_change"] = exact(fabric.quantize_change);
  return report;
}

ExitCode run(const Options& options, const Console& console) {
  const auto fabric = load_fabric(options.topology, options.reading);
  if (!fabric) return fail(fabric.errors(), console);
  report_reading(*fabric, options.reading, console);
  const auto answer = solve(*fabric, options);
  if (!answer) return fail(answer.errors(), console);
  if (options.check) {
    if (!rates_agree(*answer, fabric->network)) return ExitCode::internal;
    note(console, "checked: bisection on independent code finds the same rate");
  }
  const std::string report = options.json ? to_text(json_report(*answer, *fabric, options))
                                          : text_report(*answer, *fabric, options);
  if (auto error = write_output("-", report)) return fail({*std::move(error)}, console);
  return ExitCode::done;
}

}  // namespace

Command add_bound(CLI::App& program) {
  auto options = std::make_shared<Options>();
  CLI::App* command = program.add_subcommand(
      "bound", "The optimal rate of a fabric, and the bottleneck that proves it");
  command->add_option("TOPOLOGY", options->topology, "Topology file, or - for standard input")
      ->required();
  command
      ->add_option("-c,--collective", options->collective,
                   "Only this collective (default: allgather, reduce_scatter and allreduce)")
      ->check(CLI::IsMember({"allgather", "reduce_scatter", "allreduce", "broadcast", "reduce"}));
  command->add_option("--root", options->root, "Root of broadcast and reduce: a GPU's id or rank")
      ->type_name("GPU");
  command->add_flag("--json", options->json, "Report as JSON (format forestcoll-bound, version 1)");
  command->add_flag("--check", options->check,
                    "Compute the rate again by bisection, in independent code; they must agree");
  command
      ->add_option("--top", options->top,
                   "List the N largest links of the bottleneck (the report in text)")
      ->check(CLI::PositiveNumber.description(""))
      ->type_name("N");
  add_reading_options(*command, options->reading);
  command->footer(
      "algbw is the size of the whole buffer divided by the time, busbw what nccl-tests makes of\n"
      "it. The bottleneck is the set of nodes whose data needs longest to leave it (for a\n"
      "reduce_scatter: to enter it); no schedule is faster, and `synth -k optimal` reaches it.\n"
      "\n"
      "Examples:\n"
      "  forestcoll bound topologies/dgx-a100-x2.json\n"
      "  forestcoll bound topologies/dgx-a100-x2.json --json --check\n"
      "  forestcoll bound topologies/dgx-1-v100.json -c broadcast --root 0\n"
      "\n"
      "Exit codes: 0 done, 2 wrong input, 3 too large for exact arithmetic, 4 cannot read or\n"
      "write, 70 a bug of ours (with --check: the two rates differ).");
  return {command, [options](const Console& console) { return run(*options, console); }};
}

}  // namespace forestcoll::cli
