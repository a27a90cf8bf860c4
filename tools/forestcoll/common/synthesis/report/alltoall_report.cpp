#include "common/synthesis/report/alltoall_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "common/report/findings/warnings.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::cli {
namespace {

// What the compilation doesn't name is its choosing: all add up to the total.
std::vector<std::pair<const char*, double>> stages(const AlltoallCompilation& made,
                                                   const AlltoallTimes& times) {
  const AlltoallSeconds& of = made.seconds;
  const double named = of.optimum + of.route + of.lower + of.emit + of.verify;
  return {{"parse", times.parse}, {"rate", of.optimum},
          {"route", of.route},    {"choose", std::max(0.0, times.compile - named)},
          {"lower", of.lower},    {"emit", of.emit},
          {"verify", of.verify},  {"write", times.write}};
}

std::string share_line(const AlltoallCompilation& made) {
  return fmt::format("  algbw {} GB/s, {} of {} {} GB/s\n", number(made.algbw),
                     percent(made.algbw, made.optimum),
                     made.proof.is_exact() ? "the optimum" : "at most", number(made.optimum));
}

std::string other_k(const AlltoallCompilation& made) {
  if (made.tried.size() < 2) return {};
  std::string text = "  rate by parts per pair:\n";
  for (const AlltoallAtK& row : made.tried) {
    text += fmt::format("    k = {:<6} {} GB/s\n", row.k, number(row.algbw));
  }
  return text;
}

// Paths that pass GPUs between.
std::size_t relayed(const AlltoallCompilation& made, const Fabric& fabric) {
  std::size_t count = 0;
  for (const AlltoallPath& path : made.routes.paths) {
    for (std::size_t i = 1; i + 1 < path.nodes.size(); ++i) {
      if (!fabric.network.is_compute(path.nodes[i])) continue;
      ++count;
      break;
    }
  }
  return count;
}

// What was taken in place of paths that were searched for, and the time that was compared.
std::string stops_line(const AlltoallCompilation& made, const Fabric& fabric) {
  std::string text;
  if (!made.stops.empty()) {
    text += fmt::format("  paths stop where those of {} do, which is {}\n", made.stops,
                        made.seconds_at_bytes ? "faster" : "as fast, and has shorter rounds");
  }
  if (made.combined) text += "  messages over the same links are put together: few rounds\n";
  if (made.seconds_at_bytes) {
    text += fmt::format(
        "  {:.4g} us at the size asked for, with the figures of {} (model, not "
        "measurement)\n",
        *made.seconds_at_bytes * 1e6, fabric.gpu.name);
  }
  return text;
}

std::string rounds_line(const AlltoallCompilation& made) {
  if (made.routes.rounds == 0) return {};
  std::string text =
      fmt::format("  {}", counted(static_cast<std::size_t>(made.routes.rounds), "round"));
  if (made.algbw_in_rounds && *made.algbw_in_rounds > Ratio(0)) {
    text += fmt::format("; one after the other {} GB/s", number(made.algbw_in_rounds->to_double()));
  }
  return text + "\n";
}

std::string programs_lines(const AlltoallCompilation& made, std::int32_t sms) {
  const Verdict& verdict = made.verdict;
  if (verdict.threadblocks == 0) return {};
  std::string text = fmt::format("  as {}, which names no routes: each hop by the fewest links\n",
                                 verdict.format == "msccl-xml" ? "XML" : "a plan");
  text += fmt::format("  {} per GPU of {}, {}, {} at most\n",
                      counted(static_cast<std::size_t>(verdict.threadblocks), "threadblock"), sms,
                      counted(static_cast<std::size_t>(verdict.channels), "channel"),
                      counted(static_cast<std::size_t>(verdict.steps), "step"));
  const Ratio scratch(made.scratch, verdict.chunks);
  text += made.scratch == 0
              ? "  no scratch: nothing is relayed\n"
              : fmt::format("  scratch: {} of {} chunks, {} times the send buffer\n", made.scratch,
                            verdict.chunks, number(scratch.to_double()));
  if (!verdict.free_at_one_in_flight) text += deadlock_line();
  text += condition_lines(verdict);
  return text + fmt::format("  usable: {}\n", verdict.usable_counts);
}

// In whole milliseconds, so that the total is the sum of what is printed.
std::string seconds_text(const AlltoallCompilation& made, const AlltoallTimes& times) {
  std::string text = "  seconds:";
  long total = 0;
  for (const auto& [name, value] : stages(made, times)) {
    const long milliseconds = std::lround(value * 1e3);
    total += milliseconds;
    text += fmt::format(" {} {}.{:03},", name, milliseconds / 1000, milliseconds % 1000);
  }
  return text + fmt::format(" total {}.{:03}", total / 1000, total % 1000);
}

}  // namespace

std::string alltoall_summary(const AlltoallCompilation& made, const Fabric& fabric,
                             std::int32_t sms, const AlltoallTimes& times) {
  std::string text =
      fmt::format("{}: {} over {}\n", fabric.topology.name, made.verdict.collective_name,
                  counted(fabric.network.ranks.size(), "GPU"));
  text += share_line(made);
  if (made.verdict.threadblocks == 0) {
    text += "  a model, not a measurement: links alone count\n";
  }
  text += other_k(made);
  text += fmt::format("  k = {}, {}, {} of them through other GPUs\n", made.routes.k,
                      counted(made.routes.paths.size(), "path"), relayed(made, fabric));
  text += stops_line(made, fabric) + rounds_line(made) + programs_lines(made, sms);
  return text + seconds_text(made, times);
}

Json alltoall_json(const AlltoallCompilation& made, const ThreeFigures& figures,
                   const Fabric& fabric, const AlltoallTimes& times) {
  const Verdict& verdict = made.verdict;
  Json json = {{"format", "forestcoll-synth"},
               {"version", 2},
               {"topology", fabric.topology.name},
               {"collective", made.verdict.collective_name},
               {"compute_nodes", fabric.network.ranks.size()},
               {"k", made.routes.k},
               {"algbw", exact(made.algbw)},
               {"optimum", to_json(figures.rates.optimum)},
               {"optimum_by_trees", to_json(figures.rates.by_trees)},
               {"reached", to_json(figures.reached)},
               {"optimum_is_exact", made.proof.is_exact()},
               {"paths", made.routes.paths.size()},
               {"relayed", relayed(made, fabric)},
               {"threadblocks", verdict.threadblocks},
               {"channels", verdict.channels},
               {"steps", verdict.steps},
               {"usable_counts", verdict.usable_counts}};
  if (!made.stops.empty()) json["stops"] = made.stops;
  if (made.combined) json["combined"] = true;
  if (made.seconds_at_bytes) json["seconds_at_size"] = *made.seconds_at_bytes;
  if (made.routes.rounds > 0) json["rounds"] = made.routes.rounds;
  if (made.algbw_in_rounds && *made.algbw_in_rounds > Ratio(0)) {
    json["algbw_in_rounds"] = exact(*made.algbw_in_rounds);
  }
  if (verdict.threadblocks > 0) {
    json["chunks"] = verdict.chunks;
    json["scratch"] = made.scratch;
    json["free_at_one_in_flight"] = verdict.free_at_one_in_flight;
  }
  Json rows = Json::array();
  for (const AlltoallAtK& row : made.tried) {
    rows.push_back({{"k", row.k}, {"algbw", exact(row.algbw)}});
  }
  json["tradeoff"] = std::move(rows);
  if (!fabric.changes.empty()) json["changes"] = fabric.changes;
  Json seconds = Json::object();
  for (const auto& [name, value] : stages(made, times)) seconds[name] = value;
  seconds["total"] = times.total();
  json["seconds"] = std::move(seconds);
  return json;
}

}  // namespace forestcoll::cli
