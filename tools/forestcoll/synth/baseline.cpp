#include "synth/baseline.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "common/files/io.hpp"
#include "common/files/nccl_rings.hpp"
#include "common/options/file_option.hpp"
#include "forestcoll/baseline.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/import.hpp"
#include "forestcoll/pack.hpp"
#include "forestcoll/stopwatch.hpp"
#include "synth/options.hpp"

namespace forestcoll::cli {
namespace {

std::string names_of_baselines() {
  std::string names;
  for (const BaselineInfo& info : baselines()) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", info.name);
  }
  for (const ExchangeInfo& info : exchanges()) {
    if (find_baseline(info.name) == nullptr) names += fmt::format(", {}", info.name);
  }
  return names;
}

// Of an allreduce without trees; null where the algorithm has some, or does not serve it.
const ExchangeInfo* exchange_of(const std::string& algorithm, Collective collective) {
  return collective == Collective::allreduce ? find_exchange(algorithm) : nullptr;
}

Expected<SolvedBaseline> solve_exchange(const ExchangeInfo& exchange, const Ratio& bound,
                                        bool writes_programs) {
  SolvedBaseline solved;
  solved.bound = bound;
  solved.exchange = &exchange;
  if (writes_programs) return solved;
  return make_error(
      Code::B10, fmt::format("{} exchanges whole buffers, which no trees describe", exchange.name),
      "write it as --format msccl");
}

Diagnostic no_trees(const BaselineArguments& arguments, const BaselineResult& result) {
  if (result.branching) {
    return make_error(
        Code::B10,
        fmt::format("{} reaches {} GB/s here (model, not measurement), by trees that branch at "
                    "switches, which no other algorithm is written with",
                    arguments.algorithm, number(result.algbw)),
        "leave --algorithm out: forestcoll's own trees branch at switches where that is faster");
  }
  return make_error(
      Code::B10,
      fmt::format("{} reaches {} GB/s here (model, not measurement), but there is no schedule to "
                  "write: {}",
                  arguments.algorithm, number(result.algbw), result.note),
      "`forestcoll compare` shows its rate beside the others");
}

std::pair<std::string_view, std::string_view> title_and_source(const BaselineArguments& arguments,
                                                               const SolvedBaseline& solved) {
  if (solved.exchange != nullptr) return {solved.exchange->title, solved.exchange->source};
  const BaselineInfo& info = *find_baseline(arguments.algorithm);
  return {info.title, info.source};
}

std::int32_t least_height(const Fabric& fabric, std::optional<Rank> root) {
  const Weights weights =
      root ? single_root(fabric.network, *root) : uniform_weights(fabric.network);
  return height_lower_bound(fabric.network, weights);
}

}  // namespace

void add_baseline_options(CLI::App& command, BaselineArguments& arguments) {
  constexpr const char* kGroup = "Algorithm";
  command
      .add_option("--algorithm", arguments.algorithm,
                  "Whose trees: forestcoll's, the best possible, or one to compare with:\n"
                  "nccl-ring, ring, double-tree, nvls, halving-doubling, bruck, multitree, bfb,\n"
                  "hierarchical, greedy, pat, swing, bine, one-shot, two-shot, two-level,\n"
                  "recursive-doubling, swing-doubling, all-pairs-once, all-pairs; of an alltoall:\n"
                  "nccl-pairwise, nccl-pxn, hierarchical, bruck, direct")
      ->type_name("NAME")
      ->capture_default_str()
      ->group(kGroup);
  add_file_option(command, "--nccl-graph", arguments.nccl_graph,
                  "Take exactly the rings of this dump (NCCL_GRAPH_DUMP_FILE) for the boxes; with\n"
                  "nccl-ring, double-tree or hierarchical")
      ->group(kGroup);
  command
      .add_flag("--cross-nic", arguments.cross_nic,
                "nccl-ring between boxes: rings change places in pairs, as with NCCL_CROSS_NIC")
      ->group(kGroup);
  command
      .add_flag("--nccl-constants", arguments.nccl_constants,
                "Search for rings at the speeds of NCCL's own table only")
      ->group(kGroup);
}

Expected<void> refuse_with_baseline(const SynthArguments& arguments) {
  const BaselineArguments& baseline = arguments.baseline;
  const bool is_known =
      find_baseline(baseline.algorithm) != nullptr || find_exchange(baseline.algorithm) != nullptr;
  if (baseline.chosen() && !is_known) {
    return make_error(
        Code::B09, fmt::format("--algorithm: there is no \"{}\"", baseline.algorithm.substr(0, 40)),
        fmt::format("the algorithms are forestcoll, {}", names_of_baselines()));
  }
  const bool rings = has_box_rings(baseline.algorithm);
  for (const auto& [option, given, fits] :
       {std::tuple("--nccl-graph", !baseline.nccl_graph.empty(), rings),
        std::tuple("--nccl-constants", baseline.nccl_constants, rings),
        std::tuple("--cross-nic", baseline.cross_nic, baseline.algorithm == "nccl-ring")}) {
    if (!given || fits) continue;
    return make_error(Code::S04,
                      fmt::format("{} says nothing to --algorithm {}", option, baseline.algorithm),
                      "ask for --algorithm nccl-ring with it, or leave it out");
  }
  if (!baseline.chosen()) return {};
  const SolverArguments& solver = arguments.solver;
  for (const auto& [option, given] :
       {std::pair("-k", !arguments.trees.empty()), std::pair("--tune", !arguments.tune.empty()),
        std::pair("--size", !arguments.size.empty()),
        std::pair("--effort", solver.effort != "default"),
        std::pair("--time-limit", !solver.time_limit.empty()),
        std::pair("--max-height", !solver.max_height.empty()),
        std::pair("--tradeoff", solver.tradeoff), std::pair("--warm", !solver.warm.empty())}) {
    if (!given) continue;
    return make_error(Code::S04,
                      fmt::format("{} is for forestcoll's own trees, not for those of {}", option,
                                  baseline.algorithm),
                      fmt::format("leave {} or --algorithm out", option));
  }
  return {};
}

Expected<SolvedBaseline> solve_baseline(const Fabric& fabric, Collective collective,
                                        std::optional<Rank> root,
                                        const BaselineArguments& arguments, bool writes_programs) {
  Stopwatch watch;
  const auto graph = read_rings(arguments.nccl_graph);
  if (!graph) return graph.errors();
  const auto best = bound(fabric.network, collective, root);
  if (!best) return best.errors();
  if (const ExchangeInfo* exchange = exchange_of(arguments.algorithm, collective)) {
    return solve_exchange(*exchange, best->algbw, writes_programs);
  }
  SolvedBaseline solved;
  solved.synthesis.seconds.rate = watch.restart();
  const BaselineOptions options{.graph = *graph ? &**graph : nullptr,
                                .cross_nic = arguments.cross_nic,
                                .nccl_constants = arguments.nccl_constants};
  auto made = make_baseline(arguments.algorithm, fabric.topology, fabric.network, collective, root,
                            options);
  if (!made) return made.errors();
  if (!made->forest) return no_trees(arguments, *made);
  solved.synthesis.seconds.pack = watch.restart();
  solved.synthesis.forest = *std::move(made->forest);
  solved.synthesis.forest.optimum = best->algbw;
  solved.synthesis.allowed = made->algbw;
  solved.synthesis.least_height = least_height(fabric, root);
  solved.bound = best->algbw;
  solved.note = std::move(made->note);
  return solved;
}

std::string baseline_line(const BaselineArguments& arguments, const SolvedBaseline& solved) {
  const auto [title, source] = title_and_source(arguments, solved);
  std::string line = fmt::format("algorithm {}: {} ({})", arguments.algorithm, title, source);
  if (!solved.note.empty()) line += "; " + solved.note;
  const Ratio& algbw = solved.synthesis.forest.algbw;
  if (algbw > solved.bound) {
    line += "\nfaster than reduce_scatter, then allgather, can be: both run at once";
  }
  return line;
}

Json baseline_json(const BaselineArguments& arguments, const SolvedBaseline& solved) {
  const auto [title, source] = title_and_source(arguments, solved);
  return {{"name", arguments.algorithm},
          {"title", title},
          {"source", source},
          {"note", solved.note},
          {"bound", exact(solved.bound)}};
}

}  // namespace forestcoll::cli
