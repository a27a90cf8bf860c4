#include "solver/portfolio/pack_low_at_once.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "forestcoll/congestion.hpp"
#include "forestcoll/stopwatch.hpp"
#include "solver/common/few_ranks.hpp"
#include "solver/low/known_programs.hpp"
#include "solver/low/low_counts.hpp"
#include "solver/low/low_program.hpp"
#include "solver/pack/known_packings.hpp"
#include "solver/portfolio/best_forest.hpp"
#include "solver/portfolio/numbers_of_trees.hpp"

namespace forestcoll::solver {
namespace {

// Trees in all where an optimum takes numbers that are too large.
constexpr std::int64_t kMany = 1 << 12;

// Trees per root that are tried before so many.
constexpr std::int64_t kFew = 16;

// A part of the optimum, as floating point knows that, above which it is reached.
constexpr double kAllOfOptimum = 1 - 1e-9;

// Steps of the searches at one height and all lower ones.
constexpr std::int64_t kMostStepsOfAll = 100'000'000;

// The height of flat trees: to mates of the root, to another group by each, and to mates there.
constexpr std::int32_t kMostHeightOfFlatAtOnce = 3;

// Of more ranks, a round of the search takes seconds.
constexpr std::size_t kMostRanksOfFlat = 512;

// Of a search for the flat trees of one phase: seconds, as steps are counted.
constexpr std::int64_t kMostStepsOfFlat = 40'000'000'000;

LowProblem low_of(const Network& network, std::int32_t height, const Ratio& least) {
  LowProblem low = low_allreduce(network, height);
  if (least > Ratio(0)) low.most_congestion = network.unit.to_double() / least.to_double();
  if (network.ranks.size() > kFewRanks) {
    low.most_steps = kMostStepsOfFlat * static_cast<std::int64_t>(low.phases.size());
  }
  return low;
}

// Of one limit on the height.
class LowSearch {
 public:
  // `least`: in GB/s, of forests that are worth anything.
  LowSearch(const Problem& problem, const SynthesizeOptions& options, std::int32_t height,
            const Ratio& least)
      : problem_(problem),
        options_(options),
        low_(low_of(problem.network, height, least)),
        solution_(solve_low_once(low_, programs_known(options.packing), options.packing.stop)) {}

  [[nodiscard]] std::int64_t steps() const { return solution_ ? solution_->steps : 0; }

  /// The better of `best` and what is found.
  void search(std::optional<LowAtOnce>& best, const Synthesis& begun) {
    if (!solution_) return;
    const bool is_any = is_any_number_open(options_);
    const auto exact = exact_counts(low_, *solution_);
    if (exact && (is_any || is_few(*exact))) {
      offer(*exact, begun, best, solution_->is_optimal);
      if (is_any || solution_->is_optimal) return;
    }
    if (!is_any) {
      offer_rounded(begun, best);
    } else if (!offer_few(begun, best)) {
      offer(rounded_counts(low_, *solution_, kMany), begun, best, false);
    }
  }

 private:
  // As many trees in all as k per root.
  [[nodiscard]] std::int64_t trees_of(std::int64_t k) const {
    return std::accumulate(problem_.weights.begin(), problem_.weights.end(), std::int64_t{0}) * k;
  }

  // No more trees than any that are open.
  [[nodiscard]] bool is_few(const LowCounts& counts) const {
    if (options_.trees_per_root.mode != TreesPerRoot::Mode::best_up_to) return false;
    const Weights roots = roots_of(low_, *solution_, counts);
    return std::accumulate(roots.begin(), roots.end(), std::int64_t{0}) <=
           trees_of(options_.trees_per_root.value);
  }

  // Whatever the numbers of trees?
  [[nodiscard]] bool is_at_optimum(const Ratio& algbw) const {
    const double most = problem_.network.unit.to_double() / solution_->congestion;
    return solution_->is_optimal && algbw.to_double() >= most * kAllOfOptimum;
  }

  // Where floating point names no fractions, few trees may reach the optimum all the same.
  bool offer_few(const Synthesis& begun, std::optional<LowAtOnce>& best) const {
    const std::size_t ranks = problem_.weights.size();
    if (ranks > LowTreeSearch::kMostExact) return false;
    for (const std::int64_t k : numbers_asked_for({TreesPerRoot::Mode::best_up_to, kFew}, ranks)) {
      if (options_.packing.stop.stop_requested()) break;
      const auto algbw = offer(rounded_counts(low_, *solution_, trees_of(k)), begun, best, false);
      if (algbw && is_at_optimum(*algbw)) return true;
    }
    return false;
  }

  void offer_rounded(const Synthesis& begun, std::optional<LowAtOnce>& best) const {
    std::vector<RateAtK> rows;
    for (const std::int64_t k :
         numbers_asked_for(options_.trees_per_root, problem_.weights.size())) {
      if (options_.packing.stop.stop_requested()) break;
      const auto algbw = offer(rounded_counts(low_, *solution_, trees_of(k)), begun, best, false);
      if (algbw) rows.push_back({k, *algbw});
    }
    if (best && options_.trees_per_root.mode != TreesPerRoot::Mode::fixed) {
      best->synthesis.tradeoff = std::move(rows);
    }
  }

  std::optional<Ratio> offer(const LowCounts& counts, const Synthesis& begun,
                             std::optional<LowAtOnce>& best, bool is_optimal) const {
    LowAtOnce found{begun, is_optimal};
    Synthesis& synthesis = found.synthesis;
    CollectiveForest& forest = synthesis.forest;
    set_roots(forest, roots_of(low_, *solution_, counts));
    forest.broadcast = low_forest(low_, *solution_, counts, 0);
    forest.reduce =
        (low_.phases.size() == 1 ? *forest.broadcast : low_forest(low_, *solution_, counts, 1))
            .reversed();
    const auto algbw = congestion_algbw(forest, problem_.network);
    if (!algbw) return std::nullopt;
    forest.algbw = *algbw;
    found.is_optimal |= is_at_optimum(*algbw);
    synthesis.allowed = std::max(forest.optimum, *algbw);
    synthesis.raised = *algbw < synthesis.allowed;
    if (!best || is_better(forest, best->synthesis.forest)) best = std::move(found);
    return algbw;
  }

  const Problem& problem_;
  const SynthesizeOptions& options_;
  const LowProblem low_;
  const std::shared_ptr<const LowSolution> solution_;
};

}  // namespace

std::optional<LowAtOnce> pack_low_at_once(const Problem& problem, const SynthesizeOptions& options,
                                          const Synthesis& begun, const Ratio& least) {
  const bool are_few = problem.network.ranks.size() <= kFewRanks;
  const bool may_be_flat =
      *options.max_height <= kMostHeightOfFlatAtOnce && is_any_number_open(options);
  if (!are_few && (!may_be_flat || problem.network.ranks.size() > kMostRanksOfFlat)) {
    return std::nullopt;
  }
  Stopwatch watch;
  std::optional<LowAtOnce> best;
  LowSearch search(problem, options, *options.max_height, least);
  search.search(best, begun);
  std::int64_t steps = search.steps();
  // Lower trees that are as fast are better; and where numbers are rounded, or trees found by local
  // search, they may be faster.
  const bool is_exact = problem.network.ranks.size() <= LowTreeSearch::kMostExact;
  const bool is_any = is_any_number_open(options) && is_exact;
  for (std::int32_t height = *options.max_height - 1;
       best && height >= 1 && (is_exact || steps < kMostStepsOfAll); --height) {
    std::optional<LowAtOnce> lower;
    LowSearch search_lower(problem, options, height, std::max(least, best->synthesis.forest.algbw));
    search_lower.search(lower, begun);
    steps += search_lower.steps();
    if (!lower) break;
    const bool is_slower = lower->synthesis.forest.algbw < best->synthesis.forest.algbw;
    if (is_slower && is_any) break;
    if (!is_slower) best.swap(lower);
  }
  if (best) {
    Synthesis& synthesis = best->synthesis;
    synthesis.least_height = least_height_of(synthesis.forest, problem.network);
    synthesis.seconds.pack += watch.restart();
  }
  return best;
}

std::int32_t least_height_at_once(const Network& network) {
  const Network backward = reversed(network);
  auto least = static_cast<std::int32_t>(network.ranks.size());
  for (std::size_t r = 0; r < network.ranks.size(); ++r) {
    least = std::min(least, std::max(height_lower_bound(network, single_root(network, Rank(r))),
                                     height_lower_bound(backward, single_root(backward, Rank(r)))));
  }
  return least;
}

}  // namespace forestcoll::solver
