#include "solver/portfolio/numbers_of_trees.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "solver/common/few_ranks.hpp"
#include "solver/pack/search/pack_or_copy.hpp"

namespace forestcoll::solver {
namespace {

// What `optimal` is compared with.
constexpr std::int64_t kMostForOptimum = 16;

constexpr std::int64_t kMostDivisor = 128;

// Up to this, all numbers are tried for low trees where ranks are few.
constexpr std::int64_t kMostLow = 32;

bool is_chosen(const ChosenScale& chosen, std::int64_t k) {
  return !chosen.scalings.empty() &&
         std::all_of(chosen.scalings.begin(), chosen.scalings.end(),
                     [&](const Scaling& scaling) { return scaling.k == k; });
}

}  // namespace

std::vector<RateAtK> other_numbers(const Problem& problem, const SynthesizeOptions& options,
                                   const ChosenScale& chosen, bool are_low) {
  using Mode = TreesPerRoot::Mode;
  const bool are_few = problem.network.ranks.size() <= kFewRanks;
  std::vector<RateAtK> rows = chosen.rows;
  if (options.trees_per_root.mode == Mode::optimal) {
    const TreesPerRoot others{are_few ? Mode::best_up_to : Mode::power_of_two, kMostForOptimum};
    auto found = choose_scale(problem.phases, others, options.packing.stop);
    if (found) rows = std::move(found->rows);
  }
  std::erase_if(rows, [&](const RateAtK& row) {
    const bool is_tried = !are_low || (are_few && row.k <= kMostLow) ||
                          std::has_single_bit(static_cast<std::uint64_t>(row.k));
    return !is_tried || is_chosen(chosen, row.k);
  });
  std::stable_sort(rows.begin(), rows.end(),
                   [](const RateAtK& a, const RateAtK& b) { return b.algbw < a.algbw; });
  return rows;
}

bool is_searched_by_phase(const Problem& problem, const SynthesizeOptions& options) {
  using Mode = TreesPerRoot::Mode;
  const Mode mode = options.trees_per_root.mode;
  return mode == Mode::optimal || (mode != Mode::fixed && problem.phases.size() == 1);
}

bool is_any_number_open(const SynthesizeOptions& options) {
  return options.trees_per_root.mode == TreesPerRoot::Mode::optimal;
}

std::vector<std::int64_t> numbers_asked_for(const TreesPerRoot& asked, std::size_t ranks) {
  using Mode = TreesPerRoot::Mode;
  if (asked.mode == Mode::fixed) return {asked.value};
  std::vector<std::int64_t> numbers;
  for (std::int64_t k = 1; k <= asked.value; ++k) {
    const bool is_open =
        asked.mode == Mode::best_up_to && ranks <= kFewRanks && k <= kMostForOptimum;
    if (is_open || std::has_single_bit(static_cast<std::uint64_t>(k))) numbers.push_back(k);
  }
  return numbers;
}

bool is_open_divisor(std::int64_t k, std::int64_t of) {
  return k < of && k <= kMostDivisor && of % k == 0;
}

std::vector<Scaling> open_scalings(const Problem& problem, const SynthesizeOptions& options,
                                   const ChosenScale& chosen, std::size_t i) {
  const PhaseProblem& phase = problem.phases[i];
  const Scaling& scaling = chosen.scalings[i];
  std::vector<std::int64_t> numbers;
  for (std::int64_t k = 1; k <= std::min(scaling.k / 2, kMostDivisor); ++k) {
    if (is_open_divisor(k, scaling.k)) numbers.push_back(k);
  }
  if (is_searched_by_phase(problem, options)) {
    for (const RateAtK& other : other_numbers(problem, options, chosen, true)) {
      if (scaling.k % other.k != 0) numbers.push_back(other.k);
    }
  }
  std::vector<Scaling> result;
  for (const std::int64_t k : numbers) {
    auto other = scale_to_k(phase.network, phase.weights, phase.rate, k, options.packing.stop);
    if (other) result.push_back(*std::move(other));
  }
  return result;
}

}  // namespace forestcoll::solver
