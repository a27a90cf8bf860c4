#include "solver/pack/search/low_by_program.hpp"

#include "solver/low/known_programs.hpp"
#include "solver/low/low_counts.hpp"
#include "solver/low/low_program.hpp"
#include "solver/pack/known_packings.hpp"
#include "solver/rate/scale.hpp"

namespace forestcoll::solver {
namespace {

// As exact arithmetic has it.
constexpr Int128 kMostScaled = Int128{1} << 61;

bool fits(const Network& network, const Ratio& scale) {
  Int128 sum = 0;
  for (const Capacity capacity : network.capacity) sum += capacity;
  return sum < kMostScaled / scale.num() && sum < kMostScaled / scale.den();
}

// Trees per root where an optimum takes numbers that are too large.
constexpr std::int64_t kMany = 1 << 10;

}  // namespace

LowPackings pack_by_program(const Network& network, const Weights& weights, std::int32_t height,
                            std::span<const std::int64_t> numbers, bool is_any_number,
                            const PackOptions& options, const std::optional<Ratio>& most_scale) {
  LowProblem problem = low_problem(network, weights, height);
  // Stars are soon known, and then that none are faster.
  if (most_scale && height > 1) problem.most_congestion = most_scale->to_double();
  const auto solution = solve_low_once(problem, programs_known(options), options.stop);
  if (!solution) return {};
  LowPackings result;
  if (solution->is_optimal) result.most = 1 / solution->congestion;
  const auto offer = [&](const LowCounts& counts) {
    if (!fits(network, counts.scale)) return;
    const Weights roots = roots_of(problem, *solution, counts);
    std::int64_t k = 0;
    for (std::size_t r = 0; r < weights.size() && k == 0; ++r) {
      if (weights[Rank(r)] > 0) k = roots[Rank(r)] / weights[Rank(r)];
    }
    result.packings.push_back({low_forest(problem, *solution, counts, 0),
                               {k, counts.scale, floor_capacities(network, counts.scale)},
                               {},
                               {}});
  };
  if (is_any_number) {
    const auto exact = exact_counts(problem, *solution);
    offer(exact ? *exact : rounded_counts(problem, *solution, kMany));
    if (solution->is_optimal && !result.packings.empty()) return result;
  }
  for (const std::int64_t k : numbers) {
    if (options.stop.stop_requested()) break;
    offer(rounded_counts(problem, *solution, k));
  }
  return result;
}

}  // namespace forestcoll::solver
