#include "common/synthesis/report/write_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "common/report/solver_report.hpp"
#include "common/report/warnings.hpp"
#include "common/synthesis/report/branching_report.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::cli {
namespace {

// The rate of the trees, as a part of the optimum, and of that by trees where it is another.
std::string rate_lines(const Ratio& algbw, const RateFigures& rates) {
  std::string text =
      fmt::format("  algbw {} GB/s, {}\n", number(algbw), of_optimum(algbw, rates.optimum));
  if (!differ(rates)) return text;
  // What is faster has some of both itself.
  const bool is_by_trees = !rates.by_trees || algbw <= rates.by_trees->at_most;
  text += fmt::format(
      "  optimum by trees, without in-network multicast and reduction{}: {} GB/s{}\n",
      rates.optimum && is_by_trees ? " (--format forest has them)" : "", in_words(rates.by_trees),
      rates.by_trees && is_by_trees
          ? ", of which this is " + percent(algbw, rates.by_trees->at_most)
          : "");
  return text;
}

// XML and plans name no routes, and may reach another rate than their trees.
Ratio rate_of_file(const CollectiveForest& forest, const Verdict& verdict) {
  return verdict.threadblocks > 0 ? verdict.algbw.value_or(forest.algbw) : forest.algbw;
}

// What the schedule as a file says less of than the forest: XML and plans name no routes, and some
// schedules need room for a second operation on a connection.
std::string schedule_lines(const Ratio& algbw, Collective collective, const Verdict& verdict,
                           const ScheduleNotes& notes) {
  std::string text;
  if (verdict.threadblocks == 0) return text;
  if (verdict.algbw && *verdict.algbw != algbw) {
    text += fmt::format(
        "  algbw is by the fewest hops, as {} names no routes{}; the trees have {} "
        "GB/s\n",
        verdict.format == "msccl-xml" ? "XML" : "a plan",
        collective == Collective::allreduce ? ", both phases at once" : "", number(algbw));
  }
  if (!notes.beside_rings.empty()) text += notes.beside_rings + "\n";
  text += threadblocks_line(verdict, notes.sms, notes.sms_are_assumed);
  if (!notes.boxes.empty()) text += notes.boxes + "\n";
  if (!notes.protocol.empty()) text += fmt::format("  protocol LL: {}\n", notes.protocol);
  if (!notes.no_ll128.empty()) text += fmt::format("  LL128 is not used: {}\n", notes.no_ll128);
  return text;
}

// Trees per root, or chunks where roots have unequal numbers of them.
std::string trees_text(const CollectiveForest& forest, const Verdict& verdict) {
  if (forest.weight.empty() || verdict.threadblocks == 0) return fmt::format("k = {}", forest.k);
  const auto [least, most] = range_of_trees(forest);
  return fmt::format("{} chunks, {} to {} of each root", verdict.chunks, least, most);
}

std::string_view placement_name(Placement placement) {
  switch (placement) {
    case Placement::in_place:
      return "in_place";
    case Placement::out_of_place:
      return "out_of_place";
    case Placement::both:
      break;
  }
  return "both";
}

std::string statistics_line(const PackStatistics& statistics) {
  const auto count = [](auto number, std::string_view singular) {
    return counted(static_cast<std::size_t>(number), singular);
  };
  return fmt::format("  packing: {}, {}, {} taken back, {}\n", count(statistics.cuts, "cut"),
                     count(statistics.checks, "check"), count(statistics.repairs, "tree"),
                     count(statistics.splits, "split"));
}

}  // namespace

void SynthSeconds::add(const CompileSeconds& compiled, double all) {
  rate += compiled.rate;
  pack += compiled.pack;
  lower += compiled.lower;
  emit += compiled.emit;
  verify += compiled.verify;
  const double named =
      compiled.rate + compiled.pack + compiled.lower + compiled.emit + compiled.verify;
  choose += std::max(0.0, all - named);
}

std::vector<std::pair<const char*, double>> SynthSeconds::stages() const {
  return {{"parse", parse},   {"rate", rate},   {of_paths ? "route" : "pack", pack},
          {"choose", choose}, {"lower", lower}, {"emit", emit},
          {"verify", verify}, {"write", write}, {"compare", compare}};
}

std::string rates_by_k_lines(const Synthesis& synthesis, std::string_view of) {
  std::string text = fmt::format("  rate by {}:\n", of);
  for (const RateAtK& row : synthesis.tradeoff) {
    text += fmt::format("    k = {:<6} {} GB/s\n", row.k, number(row.algbw));
  }
  return text;
}

Json rates_by_k_json(const Synthesis& synthesis) {
  Json rows = Json::array();
  for (const RateAtK& row : synthesis.tradeoff) {
    rows.push_back({{"k", row.k}, {"algbw", exact(row.algbw)}});
  }
  return rows;
}

std::string threadblocks_line(const Verdict& verdict, std::int32_t sms, bool sms_are_assumed) {
  return fmt::format("  {} per GPU, of {}{}; {}; at most {}\n",
                     counted(static_cast<std::size_t>(verdict.threadblocks), "threadblock"), sms,
                     sms_are_assumed ? " assumed" : "",
                     counted(static_cast<std::size_t>(verdict.channels), "channel"),
                     counted(static_cast<std::size_t>(verdict.steps), "step"));
}

void put_programs(Json& json, const Verdict& verdict) {
  json["threadblocks"] = verdict.threadblocks;
  json["channels"] = verdict.channels;
  json["threadblock_steps"] = verdict.steps;
  json["usable_counts"] = verdict.usable_counts;
  if (verdict.usable) json["usable"] = to_json(*verdict.usable);
}

std::string head_of_times(const ScheduleNotes& notes, bool verbose) {
  const bool has_times =
      !notes.window.empty() || (verbose && notes.why.find("simulated") != std::string::npos);
  return has_times ? "; times are simulated (model, not measurement)" : "";
}

std::string use_lines(const Verdict& verdict, const ScheduleNotes& notes, bool verbose) {
  std::string text;
  const std::string& window = verbose ? notes.window : notes.window_in_short;
  if (!window.empty()) text += window + "\n";
  if (!verbose && !notes.left_out.empty()) text += fmt::format("  {}\n", notes.left_out);
  if (verdict.threadblocks == 0) return text;
  if (!verdict.free_at_one_in_flight) text += deadlock_line();
  text += fmt::format("  {}\n", verdict.usable_counts) + condition_lines(verdict);
  return notes.all_sizes.empty() ? text : text + notes.all_sizes + "\n";
}

std::string ended(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string seconds_line(const SynthSeconds& seconds) {
  std::string text = "  seconds:";  // in whole milliseconds
  long total = 0;
  for (const auto& [name, value] : seconds.stages()) {
    const long milliseconds = std::lround(value * 1e3);
    total += milliseconds;
    text += fmt::format(" {} {}.{:03},", name, milliseconds / 1000, milliseconds % 1000);
  }
  return text + fmt::format(" total {}.{:03}", total / 1000, total % 1000);
}

Json seconds_json(const SynthSeconds& seconds) {
  Json json = Json::object();
  for (const auto& [name, value] : seconds.stages()) json[name] = value;
  json["total"] = seconds.total;
  return json;
}

std::string text_report(const SynthSeconds& seconds, const Synthesis& synthesis,
                        const ThreeFigures& figures, const Verdict& verdict,
                        const Topology& topology, const ScheduleNotes& notes, bool verbose) {
  const CollectiveForest& forest = synthesis.forest;
  const TreeShape shape = shape_of(forest);
  std::string text =
      fmt::format("{}: {} over {}{}\n", topology.name, to_string(forest.collective),
                  counted(topology.ranks.size(), "GPU"), head_of_times(notes, verbose));
  if (notes.branching != nullptr) {
    text += rate_lines(notes.branching->algbw, figures.rates);
    if (notes.kept) text += kept_line(*notes.kept);
    if (!verbose && notes.is_warm && !notes.why.empty()) text += fmt::format("  {}\n", notes.why);
    if (!verbose) return ended(std::move(text) + use_lines(verdict, notes, verbose));
    text += branching_lines(*notes.branching, forest, topology, notes.branching_as, figures.rates);
    if (!notes.why.empty()) text += fmt::format("  {}\n", notes.why);
    text += schedule_lines(notes.branching->algbw, forest.collective, verdict, notes);
    return text + use_lines(verdict, notes, verbose) + seconds_line(seconds);
  }
  text += rate_lines(rate_of_file(forest, verdict), figures.rates) + solver_lines(synthesis);
  if (!notes.relays.empty()) text += notes.relays + "\n";
  if (!verbose && notes.is_warm && !notes.why.empty()) text += fmt::format("  {}\n", notes.why);
  if (!verbose) return ended(std::move(text) + use_lines(verdict, notes, verbose));
  if (!synthesis.tradeoff.empty()) text += rates_by_k_lines(synthesis, "trees per root");
  if (!notes.why.empty()) text += fmt::format("  {}\n", notes.why);
  text += shape.trees == 0
              ? fmt::format("  {}, no trees: whole buffers are exchanged\n",
                            counted(static_cast<std::size_t>(verdict.chunks), "chunk"))
              : fmt::format("  {}, {}, height {} hops (mean {}, lower bound {})\n",
                            trees_text(forest, verdict),
                            counted(static_cast<std::size_t>(shape.trees), "tree"), shape.highest,
                            number(shape.mean_height), synthesis.least_height);
  text += schedule_lines(forest.algbw, forest.collective, verdict, notes);
  text += use_lines(verdict, notes, verbose) + statistics_line(synthesis.statistics);
  return text + seconds_line(seconds);
}

Json json_report(const SynthSeconds& seconds, const Synthesis& synthesis,
                 const ThreeFigures& figures, const Verdict& verdict, const Topology& topology) {
  const CollectiveForest& forest = synthesis.forest;
  const TreeShape shape = shape_of(forest);
  Json json = {{"format", "forestcoll-synth"},
               {"version", 3},
               {"topology", topology.name},
               {"collective", to_string(forest.collective)},
               {"compute_nodes", topology.ranks.size()},
               {"k", forest.k},
               {"trees_per_root", trees_per_root(forest)},
               {"algbw", exact(forest.algbw)}};
  put_figures(json, figures);
  json["trees"] = shape.trees;
  json["height"] = {
      {"max", shape.highest}, {"mean", shape.mean_height}, {"lower_bound", synthesis.least_height}};
  put_programs(json, verdict);
  if (!verdict.conditions.empty()) json["conditions"] = verdict.conditions;
  add_solver_report(json, synthesis);
  if (verdict.threadblocks > 0) {
    json["free_at_one_in_flight"] = verdict.free_at_one_in_flight;
    if (verdict.algbw) json["routed_algbw"] = exact(*verdict.algbw);
  }
  if (!synthesis.tradeoff.empty()) json["tradeoff"] = rates_by_k_json(synthesis);
  json["seconds"] = seconds_json(seconds);
  return json;
}

void add_schedule_request(Json& json, const LowerOptions& lowering, const XmlOptions& xml) {
  json["placement"] = placement_name(lowering.placement);
  json["protocol"] = xml.protocol;
  json["instances"] = lowering.instances;
}

}  // namespace forestcoll::cli
