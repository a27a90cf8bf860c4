#include "common/synthesis/report/alltoall_report.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "forestcoll/baseline.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::cli {
namespace {

const CollectiveForest& forest_of(const Compilation& made) {
  return made.chosen.synthesis.forest;
}

std::string share_line(const Compilation& made, const Expected<RateFigure>& optimum) {
  const Ratio& algbw = forest_of(made).algbw;
  if (!optimum) {
    return fmt::format("  algbw {} GB/s, {}\n", number(algbw), of_optimum(algbw, optimum));
  }
  return fmt::format(
      "  algbw {} GB/s, {} of {} {} GB/s\n", number(algbw), percent(algbw, optimum->at_most),
      optimum->is_exact() ? "the optimum" : "the upper bound", number(optimum->at_most));
}

// Paths that pass GPUs between.
std::size_t relayed(const Compilation& made, const Fabric& fabric) {
  std::size_t count = 0;
  for (const AlltoallPath& path : made.paths->routes.paths) {
    for (std::size_t i = 1; i + 1 < path.nodes.size(); ++i) {
      if (!fabric.network.is_compute(path.nodes[i])) continue;
      ++count;
      break;
    }
  }
  return count;
}

// What was taken in place of paths that were searched for, and the time that was compared.
std::string stops_line(const Compilation& made, const Fabric& fabric) {
  std::string text;
  if (!made.paths->stops.empty()) {
    text +=
        fmt::format("  paths stop where those of {} do, which is {}\n", made.paths->stops,
                    made.paths->seconds_at_bytes ? "faster" : "as fast, and has shorter rounds");
  }
  if (made.paths->combined) text += "  messages over the same links are put together: few rounds\n";
  if (made.paths->seconds_at_bytes) {
    text += fmt::format("  {:.4g} us at the size asked for, simulated; GPU parameters: {}\n",
                        *made.paths->seconds_at_bytes * 1e6, fabric.gpu.name);
  }
  return text;
}

std::string rounds_line(const Compilation& made) {
  if (made.paths->routes.rounds == 0) return {};
  std::string text =
      fmt::format("  {}", counted(static_cast<std::size_t>(made.paths->routes.rounds), "round"));
  if (made.paths->algbw_in_rounds && *made.paths->algbw_in_rounds > Ratio(0)) {
    text += fmt::format("; one after the other {} GB/s",
                        number(made.paths->algbw_in_rounds->to_double()));
  }
  return text + "\n";
}

std::string programs_lines(const Compilation& made, std::int32_t sms) {
  const Verdict& verdict = made.verdict;
  if (verdict.threadblocks == 0) return {};
  std::string text = fmt::format("  as {}, which names no routes: each hop by the fewest links\n",
                                 verdict.format == "msccl-xml" ? "XML" : "a plan");
  text += threadblocks_line(verdict, sms);
  const Ratio scratch(made.paths->scratch, verdict.chunks);
  text += made.paths->scratch == 0
              ? "  no scratch: nothing is relayed\n"
              : fmt::format("  scratch: {} of {} chunks, {} times the send buffer\n",
                            made.paths->scratch, verdict.chunks, number(scratch.to_double()));
  return text;
}

}  // namespace

std::string alltoall_summary(const Compilation& made, const RateFigures& rates,
                             const Fabric& fabric, const ScheduleNotes& notes,
                             const SynthSeconds& seconds, bool verbose) {
  const AlltoallRoutes& routes = made.paths->routes;
  std::string text =
      fmt::format("{}: {} over {}{}\n", fabric.topology.name, made.verdict.collective_name,
                  counted(fabric.network.ranks.size(), "GPU"), head_of_times(notes, verbose));
  text += share_line(made, rates.optimum);
  if (made.verdict.threadblocks == 0) {
    text += "  simulated: links alone count\n";
  }
  if (!notes.relays.empty()) text += notes.relays + "\n";
  if (!verbose) return ended(std::move(text) + use_lines(made.verdict, notes, verbose));
  const Synthesis& synthesis = made.chosen.synthesis;
  if (synthesis.tradeoff.size() > 1) text += rates_by_k_lines(synthesis, "parts per pair");
  text += fmt::format("  k = {}, {}, {} of them through other GPUs\n", routes.k,
                      counted(routes.paths.size(), "path"), relayed(made, fabric));
  text += stops_line(made, fabric);
  if (!notes.why.empty()) text += fmt::format("  {}\n", notes.why);
  return text + rounds_line(made) + programs_lines(made, notes.sms) +
         use_lines(made.verdict, notes, verbose) + seconds_line(seconds);
}

Json alltoall_json(const Compilation& made, const ThreeFigures& figures, const Fabric& fabric,
                   const SynthSeconds& seconds) {
  const Verdict& verdict = made.verdict;
  Json json = {{"format", "forestcoll-synth"},
               {"version", 3},
               {"topology", fabric.topology.name},
               {"collective", made.verdict.collective_name},
               {"compute_nodes", fabric.network.ranks.size()},
               {"k", made.paths->routes.k},
               {"algbw", exact(forest_of(made).algbw)}};
  put_figures(json, figures);
  json["optimum_is_exact"] = figures.rates.optimum && figures.rates.optimum->is_exact();
  json["paths"] = made.paths->routes.paths.size();
  json["relayed"] = relayed(made, fabric);
  put_programs(json, verdict);
  if (!made.paths->stops.empty()) json["stops"] = made.paths->stops;
  if (made.paths->combined) json["combined"] = true;
  if (made.paths->seconds_at_bytes) json["simulated_seconds"] = *made.paths->seconds_at_bytes;
  if (made.paths->routes.rounds > 0) json["rounds"] = made.paths->routes.rounds;
  if (made.paths->algbw_in_rounds && *made.paths->algbw_in_rounds > Ratio(0)) {
    json["algbw_in_rounds"] = exact(*made.paths->algbw_in_rounds);
  }
  if (verdict.threadblocks > 0) {
    json["chunks"] = verdict.chunks;
    json["scratch"] = made.paths->scratch;
    json["free_at_one_in_flight"] = verdict.free_at_one_in_flight;
  }
  json["tradeoff"] = rates_by_k_json(made.chosen.synthesis);
  json["seconds"] = seconds_json(seconds);
  return json;
}

std::string paths_line(const std::string& algorithm) {
  const BaselineInfo& info = *find_alltoall_baseline(algorithm);
  return fmt::format("algorithm {}: {} ({})", info.name, info.title, info.source);
}

Json paths_json(const std::string& algorithm, const Ratio& bound) {
  const BaselineInfo& info = *find_alltoall_baseline(algorithm);
  return {{"algorithm", info.name},
          {"title", info.title},
          {"source", info.source},
          {"note", ""},
          {"bound", exact(bound)}};
}

}  // namespace forestcoll::cli
