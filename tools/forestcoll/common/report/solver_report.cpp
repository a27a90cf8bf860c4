#include "common/report/solver_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "forestcoll/ratio.hpp"

namespace forestcoll::cli {
namespace {

std::string percent_lost(const Ratio& part, const Ratio& whole) {
  return number(100 * share_lost(part, whole)) + " %";
}

std::string raise_words(const char* phase, const std::optional<Raise>& raise) {
  if (!raise) return {};
  return fmt::format("; {} asked for U = {}, packed at {}", phase, raise->asked.to_string(),
                     raise->reached.to_string());
}

std::string at_once_line(const Synthesis& synthesis) {
  if (!synthesis.two_phases) return {};
  return fmt::format(
      "  the optimum has reduce and broadcast at the same time: one after the other reaches {} "
      "GB/s "
      "at most\n",
      number(*synthesis.two_phases));
}

std::string paths_line(const Synthesis& synthesis) {
  if (!synthesis.optimum_of_paths) return {};
  const CollectiveForest& forest = synthesis.forest;
  return fmt::format(
      "  a schedule names no routes: none has more than {} GB/s, of which this has {}\n",
      number(forest.optimum), percent(forest.algbw, forest.optimum));
}

std::string rounded_line(const Synthesis& synthesis) {
  if (!synthesis.rounded_to) return {};
  const CollectiveForest& forest = synthesis.forest;
  return fmt::format(
      "  exact numbers of the optimum do not fit 64 bits: with bandwidths rounded down to "
      "multiples "
      "of {} GB/s, {} below it\n",
      number(*synthesis.rounded_to), percent_lost(forest.algbw, forest.optimum));
}

std::string given_up_line(const Synthesis& synthesis) {
  if (!synthesis.given_up) return {};
  const GivenUp& other = *synthesis.given_up;
  return fmt::format("  k = {} reaches {} GB/s, in trees of height {}: lower ones were preferred\n",
                     other.k, number(other.algbw), other.height);
}

// A stop explains a loss by itself.
std::string raised_line(const Synthesis& synthesis) {
  const CollectiveForest& forest = synthesis.forest;
  const bool is_less = forest.algbw < synthesis.allowed;
  if (!synthesis.raised || synthesis.stopped || !is_less) return {};
  return fmt::format(
      "  {} below the {} GB/s that the cuts allow at this k: trees as low as asked for, or "
      "switches "
      "whose two sides differ (by themselves or after rounding), left no more room{}{}\n",
      percent_lost(forest.algbw, synthesis.allowed), number(synthesis.allowed),
      raise_words("the reduce phase", synthesis.reduce_raise),
      raise_words("the broadcast phase", synthesis.broadcast_raise));
}

std::string stopped_line(const Synthesis& synthesis) {
  if (!synthesis.stopped) return {};
  const CollectiveForest& forest = synthesis.forest;
  if (forest.algbw == forest.optimum) {
    return "  stopped by the time limit: at the optimum, but the search for lower trees had not "
           "ended\n";
  }
  return fmt::format("  stopped by the time limit: the best so far, {} below the optimum\n",
                     percent_lost(forest.algbw, forest.optimum));
}

double kept_share(const RepackStatistics& repack) {
  return static_cast<double>(repack.kept_multiplicity) /
         static_cast<double>(repack.total_multiplicity);
}

std::string repack_line(const Synthesis& synthesis) {
  return synthesis.repack ? kept_line(*synthesis.repack) : "";
}

Json raise_json(const Raise& raise) {
  return {{"asked", exact(raise.asked)}, {"reached", exact(raise.reached)}};
}

}  // namespace

std::string kept_line(const RepackStatistics& repack) {
  return fmt::format(
      "  of the previous {}: {} kept ({} % of the data), {} touched by the failure, {} gave way; "
      "{} "
      "new\n",
      counted(static_cast<std::size_t>(repack.previous), "tree"), repack.kept,
      number(100 * kept_share(repack)), repack.touched,
      repack.previous - repack.kept - repack.touched, repack.added);
}

Json kept_json(const RepackStatistics& repack) {
  return {{"former_trees", repack.previous},
          {"kept_trees", repack.kept},
          {"touched_trees", repack.touched},
          {"new_trees", repack.added},
          {"kept_share", kept_share(repack)}};
}

std::string solver_lines(const Synthesis& synthesis) {
  return paths_line(synthesis) + at_once_line(synthesis) + rounded_line(synthesis) +
         given_up_line(synthesis) + raised_line(synthesis) + stopped_line(synthesis) +
         repack_line(synthesis);
}

std::string tradeoff_lines(const Tradeoff& tradeoff) {
  std::string text = "  rate by trees per root:\n";
  for (const RateAtK& row : tradeoff.by_k) {
    text += fmt::format("    k = {:<8} {:>20} GB/s\n", row.k, number(row.algbw));
  }
  text += "  rate by height:\n";
  for (const RateAtHeight& row : tradeoff.by_height) {
    text += fmt::format("    height {:<4} mean {:<8} k = {:<6} {:>16} GB/s\n", row.height,
                        number(row.mean_height), row.k, number(row.algbw));
  }
  if (tradeoff.stopped) text += "  stopped by the time limit: there may be more rows\n";
  text.pop_back();
  return text;
}

void add_solver_report(Json& json, const Synthesis& synthesis) {
  const CollectiveForest& forest = synthesis.forest;
  if (synthesis.two_phases) json["two_phases"] = exact(*synthesis.two_phases);
  if (synthesis.optimum_of_paths) {
    json["optimum_of_paths"] = exact(*synthesis.optimum_of_paths);
    json["optimum_of_schedules"] = exact(forest.optimum);
  }
  if (synthesis.rounded_to) {
    json["rounded_down"] = {{"grid", exact(*synthesis.rounded_to)},
                            {"lost", share_lost(forest.algbw, forest.optimum)}};
  }
  if (const auto& other = synthesis.given_up) {
    json["given_up"] = {
        {"k", other->k}, {"algbw", exact(other->algbw)}, {"max_height", other->height}};
  }
  json["raised"] = synthesis.raised;
  if (synthesis.raised) {
    Json raise = {{"allowed", exact(synthesis.allowed)},
                  {"lost", share_lost(forest.algbw, synthesis.allowed)}};
    if (synthesis.reduce_raise) raise["reduce"] = raise_json(*synthesis.reduce_raise);
    if (synthesis.broadcast_raise) raise["broadcast"] = raise_json(*synthesis.broadcast_raise);
    json["raise"] = std::move(raise);
  }
  if (synthesis.stopped) {
    json["stopped_early"] = {{"reason", "time limit"},
                             {"gap", share_lost(forest.algbw, forest.optimum)}};
  }
  if (const auto& repack = synthesis.repack) {
    json["kept"] = kept_json(*repack);
  }
}

Json tradeoff_json(const Tradeoff& tradeoff) {
  Json by_k = Json::array();
  for (const RateAtK& row : tradeoff.by_k) {
    by_k.push_back({{"k", row.k}, {"algbw", exact(row.algbw)}});
  }
  Json by_height = Json::array();
  for (const RateAtHeight& row : tradeoff.by_height) {
    by_height.push_back({{"max_height", row.height},
                         {"mean_height", row.mean_height},
                         {"k", row.k},
                         {"algbw", exact(row.algbw)}});
  }
  Json json = {{"by_k", std::move(by_k)}, {"by_height", std::move(by_height)}};
  if (tradeoff.stopped) json["stopped"] = true;
  return json;
}

TreeShape shape_of(const CollectiveForest& forest) {
  TreeShape shape;
  int phases = 0;
  for (const auto* phase : {&forest.reduce, &forest.broadcast}) {
    if (!*phase) continue;
    ++phases;
    shape.trees += static_cast<std::int64_t>((*phase)->tree_count());
    shape.highest = std::max(shape.highest, (*phase)->max_height());
    shape.mean_height += (*phase)->mean_height();
  }
  if (phases > 0) shape.mean_height /= phases;
  return shape;
}

TreeShape shape_of(const BranchingForest& forest) {
  TreeShape shape;
  const int phases = forest.collective == Collective::allreduce ? 2 : 1;
  for (const auto* phase : {&forest.reduce, &forest.broadcast}) {
    for (const BranchingTrees& trees : *phase) {
      shape.trees += static_cast<std::int64_t>(trees.forest.tree_count());
      for (std::size_t t = 0; t < trees.forest.tree_count(); ++t) {
        const Forest::Tree& tree = trees.forest.tree(TreeId(t));
        shape.highest = std::max(shape.highest, tree.height);
        shape.mean_height += static_cast<double>(tree.multiplicity) * tree.height /
                             (phases * static_cast<double>(forest.chunks));
      }
    }
  }
  return shape;
}

}  // namespace forestcoll::cli
