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

Ratio largest_buffer(const JobStep& step, const MadeStep& made) {
  const StepFigures figures(step, made.bound);
  Ratio largest = 0;
  for (std::size_t i = 0; i < step.operations.size(); ++i) {
    largest = std::max(largest, figures.buffer(i));
  }
  return largest > Ratio(0) ? largest : Ratio(1);  // without bytes all have as much
}

// What several steps move, one after the other, by the time of all.
class RateInTurn {
 public:
  // `moved`: as a multiple of what any one step moves, so that numbers stay small; nothing where it
  // does not fit, as near as `nearly`.
  void add(const std::optional<Ratio>& moved, double nearly, const Ratio& rate) {
    moved_near_ += nearly;
    time_near_ += nearly / rate.to_double();
    const auto time = moved ? checked_div(*moved, rate) : std::nullopt;
    moved_ = moved_ && moved ? checked_add(*moved_, *moved) : std::nullopt;
    time_ = time_ && time ? checked_add(*time_, *time) : std::nullopt;
  }

  [[nodiscard]] Ratio rate() const {
    const auto exact = moved_ && time_ ? checked_div(*moved_, *time_) : std::nullopt;
    return exact ? *exact : near(moved_near_ / time_near_);
  }

 private:
  std::optional<Ratio> moved_ = Ratio(0), time_ = Ratio(0);
  double moved_near_ = 0, time_near_ = 0;
};

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
    RateInTurn reached, optimum, known;
    bool is_exact = true;
    const Ratio first = largest_buffer(job.steps.front(), steps.front());
    for (std::size_t s = 0; s < steps.size(); ++s) {
      const JobRates rates = rates_of(job.steps[s], steps[s]);
      const Ratio buffer = largest_buffer(job.steps[s], steps[s]), repeat = job.steps[s].repeat;
      const auto multiple = checked_div(buffer, first);
      const auto moved = multiple ? checked_mul(*multiple, repeat) : std::nullopt;
      const double nearly = repeat.to_double() * buffer.to_double() / first.to_double();
      reached.add(moved, nearly, rates.reached);
      optimum.add(moved, nearly, rates.optimum);
      known.add(moved, nearly, rates.known.value_or(rates.optimum));
      is_exact = is_exact && !rates.known;
    }
    all = {reached.rate(), optimum.rate()};
    if (!is_exact) all.known = known.rate();
  }
  all.height = highest_tree(steps);
  return all;
}

}  // namespace forestcoll::cli
