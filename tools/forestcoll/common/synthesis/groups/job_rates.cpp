#include "common/synthesis/groups/job_rates.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "common/job/figures.hpp"
#include "common/report/solver_report.hpp"

namespace forestcoll::cli {
namespace {

// As near as 40 bits where that does not fit.
Ratio near(double value) {
  constexpr std::int64_t kDenominator = std::int64_t{1} << 40;
  return {std::llround(value * static_cast<double>(kDenominator)), kDenominator};
}

Ratio product(const Ratio& a, const Ratio& b) {
  const auto exact = checked_mul(a, b);
  return exact ? *exact : near(a.to_double() * b.to_double());
}

// Of the largest buffer of a step.
JobRates rates_of(const JobStep& step, const MadeStep& made) {
  const JointOptimum& together = made.bound.together;
  JobRates rates{product(part_reached(step, made), together.reached), together.at_most};
  if (!together.is_exact()) rates.known = together.reached;
  return rates;
}

double largest_buffer(const JobStep& step, const MadeStep& made) {
  const StepFigures figures(step, made.bound);
  double largest = 0;
  for (std::size_t i = 0; i < step.operations.size(); ++i) {
    largest = std::max(largest, figures.buffer(i));
  }
  return largest > 0 ? largest : 1;  // without bytes all have as much
}

std::optional<std::int64_t> highest_tree(const std::vector<MadeStep>& steps) {
  std::int64_t highest = 0;
  for (const MadeStep& step : steps) {
    for (const MadeGroup& group : step.groups) {
      if (!group.made->forest.reduce && !group.made->forest.broadcast) return std::nullopt;
      highest = std::max<std::int64_t>(highest, shape_of(group.made->forest).highest);
    }
  }
  return highest;
}

}  // namespace

Ratio least_algbw(const MadeStep& made, std::size_t operation) {
  if (made.plan) return made.plan->verdict.algbw.value_or(Ratio(0));
  std::optional<Ratio> least;
  for (const MadeGroup& group : made.groups) {
    if (group.part.operation != operation) continue;
    least = least ? std::min(*least, group.made->algbw) : group.made->algbw;
  }
  return least.value_or(Ratio(0));
}

Ratio part_reached(const JobStep& step, const MadeStep& made) {
  const StepFigures figures(step, made.bound);
  Ratio least = 1;
  for (std::size_t i = 0; i < step.operations.size(); ++i) {
    const auto part =
        checked_div(least_algbw(made, i), figures.part_of(made.bound.together.reached, i));
    if (part) least = std::min(least, *part);
  }
  return least;
}

JobRates rates_of(const Job& job, const std::vector<MadeStep>& steps) {
  JobRates all;
  if (steps.size() == 1) {
    all = rates_of(job.steps.front(), steps.front());
  } else {
    double bytes = 0, reached = 0, optimum = 0, known = 0;  // and the time of each
    for (std::size_t s = 0; s < steps.size(); ++s) {
      const JobRates rates = rates_of(job.steps[s], steps[s]);
      const double moved =
          static_cast<double>(job.steps[s].repeat) * largest_buffer(job.steps[s], steps[s]);
      bytes += moved;
      reached += moved / rates.reached.to_double();
      optimum += moved / rates.optimum.to_double();
      known += moved / rates.known.value_or(rates.optimum).to_double();
    }
    all = {near(bytes / reached), near(bytes / optimum)};
    if (known != optimum) all.known = near(bytes / known);
  }
  all.height = highest_tree(steps);
  return all;
}

}  // namespace forestcoll::cli
