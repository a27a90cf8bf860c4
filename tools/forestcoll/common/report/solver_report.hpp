// What a synthesis has to say of itself beyond its rate: its trees, losses, a stop, kept trees.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/report/report.hpp"
#include "forestcoll/branching_forest.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/synthesize.hpp"

namespace forestcoll::cli {

/// What --tradeoff adds: rate by k, and rate by height.
struct Tradeoff {
  std::vector<RateAtK> by_k;
  std::vector<RateAtHeight> by_height;
  bool stopped = false;  ///< by the time limit: rows may be missing
};

/// Lines of the summary: what both phases at once bring, why the rate is below what the cuts allow,
/// whether the time was over, and what is left of a previous forest. Empty where there is nothing
/// of that.
[[nodiscard]] std::string solver_lines(const Synthesis& synthesis);
/// What of a previous forest is left.
[[nodiscard]] std::string kept_line(const RepackStatistics& repack);
[[nodiscard]] Json kept_json(const RepackStatistics& repack);
[[nodiscard]] std::string tradeoff_lines(const Tradeoff& tradeoff);

/// The same for the summary in JSON: "two_phases", "optimum_of_paths", "raised", "raise",
/// "stopped", "kept".
void add_solver_report(Json& json, const Synthesis& synthesis);
[[nodiscard]] Json tradeoff_json(const Tradeoff& tradeoff);

struct TreeShape {
  std::int64_t trees = 0;    ///< distinct ones, over all phases
  std::int32_t highest = 0;  ///< the largest height
  double mean_height = 0;    ///< weighted by multiplicity, over all phases alike
};
[[nodiscard]] TreeShape shape_of(const CollectiveForest& forest);
/// Edges into and out of switches are counted.
[[nodiscard]] TreeShape shape_of(const BranchingForest& forest);

/// {"min": 10, "max": 11}
[[nodiscard]] inline Json trees_per_root(const CollectiveForest& forest) {
  const auto [least, most] = range_of_trees(forest);
  return {{"min", least}, {"max", most}};
}

}  // namespace forestcoll::cli
