#include "common/synthesis/baseline.hpp"

#include <fmt/format.h>

#include <utility>

#include "common/options/schedule_options.hpp"
#include "common/report/progress_bar.hpp"
#include "forestcoll/baseline.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/emit.hpp"
#include "forestcoll/fabric.hpp"
#include "forestcoll/import.hpp"
#include "forestcoll/pack.hpp"
#include "forestcoll/schedule.hpp"
#include "forestcoll/stopwatch.hpp"

namespace forestcoll::cli {
namespace {

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
        fmt::format(
            "{} reaches {} GB/s here, simulated, by trees that branch at switches, which no "
            "other algorithm is written with",
            arguments.algorithm, number(result.algbw)),
        "leave --algorithm out: forestcoll's own trees branch at switches where that is faster");
  }
  return make_error(
      Code::B10,
      fmt::format("{} reaches {} GB/s here, simulated, but there is no schedule to write: {}",
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

// Of the rings as XML, made as ours is; nothing where they do not fit the target.
std::optional<double> seconds_of_rings(const CollectiveForest& rings, const Fabric& fabric,
                                       const CompileOptions& options, const std::stop_token& stop) {
  const auto schedule = lower(rings, options.lowering);
  if (!schedule) return std::nullopt;
  return simulated_time(to_msccl_xml(*schedule, rings, fabric.topology, options.xml), fabric,
                        kLargeMessage, stop);
}

}  // namespace

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
  if (find_baseline(arguments.algorithm) == nullptr) {
    return make_error(
        Code::B06,
        fmt::format("{} has no {} of its own", arguments.algorithm, to_string(collective)),
        "it serves allreduce");
  }
  auto made = make_baseline(arguments.algorithm, fabric.topology, fabric.links(), collective, root,
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
  return {{"algorithm", arguments.algorithm},
          {"title", title},
          {"source", source},
          {"note", solved.note},
          {"bound", exact(solved.bound)}};
}

std::optional<BesideRings> beside_rings(const Fabric& fabric, const Compilation& compiled,
                                        const std::stop_token& stop, const Console& console) {
  const CollectiveForest& forest = compiled.chosen.synthesis.forest;
  const Verdict& verdict = compiled.verdict;
  if (stop.stop_requested()) return std::nullopt;
  const bool loses = verdict.algbw && *verdict.algbw < forest.optimum;
  if (compiled.options.format != Format::msccl || !loses) return std::nullopt;
  const ProgressBar bar("comparing with NCCL's rings", console);
  const auto made = make_baseline("nccl-ring", fabric.topology, fabric.links(), forest.collective,
                                  forest.root, {});
  if (!made || !(*verdict.algbw < made->algbw)) return std::nullopt;
  BesideRings beside{made->algbw, *verdict.algbw, made->note, {}, {}};
  if (!made->forest) return beside;
  beside.rings_seconds = seconds_of_rings(*made->forest, fabric, compiled.options, stop);
  if (beside.rings_seconds) {
    beside.our_seconds = simulated_time(compiled.text, fabric, kLargeMessage, stop);
  }
  return beside;
}

std::string in_words(const BesideRings& beside) {
  std::string line = fmt::format("  below nccl-ring on the links, {} against {} GB/s ({})",
                                 number(beside.ours), number(beside.rings), beside.whose);
  if (!beside.rings_seconds || !beside.our_seconds) return line;
  const bool faster = *beside.our_seconds < *beside.rings_seconds;
  return line + fmt::format(
                    "; by time {}: {:.2f} ms for 1 GiB against {:.2f} ms (model, not "
                    "measurement){}",
                    faster ? "ahead all the same" : "behind as well", *beside.our_seconds * 1e3,
                    *beside.rings_seconds * 1e3,
                    faster ? "" : ": --algorithm nccl-ring makes them");
}

Json to_json(const BesideRings& beside) {
  Json json = {{"rings_algbw", exact(beside.rings)},
               {"algbw", exact(beside.ours)},
               {"note", beside.whose},
               {"estimate", "model, not measurement"}};
  if (beside.rings_seconds) json["rings_simulated_seconds"] = *beside.rings_seconds;
  if (beside.our_seconds) json["simulated_seconds"] = *beside.our_seconds;
  return json;
}

}  // namespace forestcoll::cli
