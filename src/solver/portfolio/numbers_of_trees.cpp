#include "solver/portfolio/numbers_of_trees.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "solver/common/few_ranks.hpp"
#include "solver/pack/pack_or_copy.hpp"

namespace forestcoll::solver {
namespace {

// What `optimal` is compared with.
constexpr std::int64_t kMostForOptimum = 16;

constexpr std::int64_t kMostDivisor = 128;

// Up to this, all numbers are tried for low trees where ranks are few.
constexpr std::int64_t kMostLow = 32;

bool is_planned(const ChosenScale& planned, std::int64_t k) {
  return !planned.scalings.empty() &&
         std::all_of(planned.scalings.begin(), planned.scalings.end(),
                     [&](const Scaling& scaling) { return scaling.k == k; });
}

}  // namespace

std::vector<RateAtK> other_numbers(const Problem& problem, const SynthesizeOptions& options,
                                   const ChosenScale& planned, bool are_low) {
  using Mode = TreesPerRoot::Mode;
  const bool are_few = problem.network.ranks.size() <= kFewRanks;
  std::vector<RateAtK> rows = planned.rows;
  if (options.trees_per_root.mode == Mode::optimal) {
    const TreesPerRoot others{are_few ? Mode::best_up_to : Mode::power_of_two, kMostForOptimum};
    auto found = choose_scale(problem.phases, others, options.packing.stop);
    if (found) rows = std::move(found->rows);
  }
  std::erase_if(rows, [&](const RateAtK& row) {
    const bool is_tried = !are_low || (are_few && row.k <= kMostLow) ||
                          std::has_single_bit(static_cast<std::uint64_t>(row.k));
    return !is_tried || is_planned(planned, row.k);
  });
  std::stable_sort(rows.begin(), rows.end(),
                   [](const RateAtK& a, const RateAtK& b) { return b.algbw < a.algbw; });
  return rows;
}

std::vector<Scaling> of_fewer_trees(const Phase& phase, const Scaling& scaling,
                                    const std::stop_token& stop) {
  std::vector<Scaling> result;
  for (std::int64_t k = 1; k <= std::min(scaling.k / 2, kMostDivisor); ++k) {
    if (scaling.k % k != 0) continue;
    auto fewer = scale_to_k(phase.network, phase.weights, phase.rate, k, stop);
    if (fewer && is_copied_exactly(*fewer, scaling.k / k)) result.push_back(*std::move(fewer));
  }
  return result;
}

}  // namespace forestcoll::solver
