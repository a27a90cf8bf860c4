#include "solver/portfolio/best_forest.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <tuple>
#include <utility>

#include "forestcoll/pack.hpp"
#include "solver/common/few_ranks.hpp"
#include "solver/portfolio/numbers_of_trees.hpp"
#include "solver/portfolio/pack_phases.hpp"

namespace forestcoll::solver {
namespace {

// A part of the rate that is worth less than trees of half the height.
constexpr double kNearly = 0.99;

// Trees below this height are low enough.
constexpr std::int32_t kHigh = 4;

// Numbers of trees that are tried for trees of half the height.
constexpr int kMostForHalf = 3;

// Numbers of trees that are tried for lower ones where the optimum is reached, and it was asked
// for, or each of them takes long.
constexpr int kMostMultiples = 3;

struct Size {
  std::int32_t height = 0;
  std::size_t trees = 0;
};

Size size_of(const CollectiveForest& forest) {
  Size size;
  for (const auto* phase : {&forest.reduce, &forest.broadcast}) {
    if (!*phase) continue;
    size.height = std::max(size.height, (*phase)->max_height());
    size.trees += (*phase)->tree_count();
  }
  return size;
}

// Powers of two are what is tried where nobody says how many trees.
bool is_left_to_us(const SynthesizeOptions& options) {
  return options.trees_per_root.mode == TreesPerRoot::Mode::power_of_two && !options.max_height;
}

bool is_nearly(const Ratio& a, const Ratio& b) {
  return share(std::min(a, b), std::max(a, b)) >= kNearly;
}

bool is_half(std::int32_t low, std::int32_t high) {
  return high >= kHigh && 2 * low <= high;
}

// May fewer trees be half as high and nearly as fast?
bool may_be_half_as_high(const Synthesis& best, const Ratio& algbw,
                         const SynthesizeOptions& options) {
  return is_left_to_us(options) && is_nearly(algbw, best.forest.algbw) &&
         is_half(best.least_height, size_of(best.forest).height);
}

// Other numbers of equally fast trees are worth a search where they may be lower, and nobody said
// how low.
bool may_be_lower(const Synthesis& best, const SynthesizeOptions& options, const Problem& problem) {
  if (options.max_height || problem.network.ranks.size() > kFewRanks) return false;
  const std::int32_t height = size_of(best.forest).height;
  return std::any_of(problem.phases.begin(), problem.phases.end(), [&](const PhaseProblem& phase) {
    return height_lower_bound(phase.network, phase.weights) < height;
  });
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// `pack_phases` at `chosen`, and at other numbers of trees where those may be better.
Expected<Synthesis> pack_best(const Problem& problem, const SynthesizeOptions& options,
                              const ChosenScale& chosen, const Synthesis& begun) {
  auto best = pack_phases(problem, options, chosen, begun);
  if (!best || best->stopped || options.previous != nullptr) return best;
  if (best->forest.algbw == best->forest.optimum && !may_be_lower(*best, options, problem) &&
      !may_be_half_as_high(*best, best->forest.algbw, options)) {
    return best;
  }
  const bool are_low = options.max_height.has_value();
  const bool is_optimum = best->forest.algbw == best->forest.optimum &&
                          (options.trees_per_root.mode == TreesPerRoot::Mode::optimal ||
                           options.packing.effort == Effort::max);
  int tried = 0, tried_for_half = 0;
  if (are_low && is_searched_by_phase(problem, options)) return best;
  for (const RateAtK& other : other_numbers(problem, options, chosen, are_low)) {
    const Ratio& known = best->forest.algbw;
    const bool is_for_half = other.algbw <= known;
    if (is_for_half && (other.algbw != known || !may_be_lower(*best, options, problem))) {
      if (!may_be_half_as_high(*best, other.algbw, options)) break;
      if (tried_for_half++ == kMostForHalf) break;
    }
    if (is_optimum && tried++ == kMostMultiples) break;
    auto again =
        choose_scale(problem.phases, {TreesPerRoot::Mode::fixed, other.k}, options.packing.stop);
    if (!again || again->stopped) break;
    auto next = pack_phases(problem, options, *again, begun);
    if (!next) break;
    const bool stopped = next->stopped;
    if (is_better(next->forest, best->forest, options)) best = std::move(next);
    best->stopped = stopped;
    if (stopped) break;
  }
  return best;
}

}  // namespace

std::int32_t height_of(const CollectiveForest& forest) {
  return size_of(forest).height;
}

bool is_better(const CollectiveForest& a, const CollectiveForest& b,
               const SynthesizeOptions& options) {
  const Size ours = size_of(a), theirs = size_of(b);
  if (is_left_to_us(options) && is_nearly(a.algbw, b.algbw)) {
    if (is_half(ours.height, theirs.height)) return true;
    if (is_half(theirs.height, ours.height)) return false;
  }
  if (a.algbw != b.algbw) return b.algbw < a.algbw;
  return std::tie(ours.height, ours.trees) < std::tie(theirs.height, theirs.trees);
}

Expected<Synthesis> choose_and_pack(const Problem& problem, const SynthesizeOptions& options,
                                    Synthesis begun) {
  // Make capacities integral; that fixes the number of trees per root.
  auto start = std::chrono::steady_clock::now();
  auto chosen = choose_scale(problem.phases, options.trees_per_root, options.packing.stop);
  if (!chosen) return chosen.errors();
  begun.stopped = chosen->stopped;
  begun.tradeoff = chosen->rows;
  begun.seconds.rate += seconds_since(start);

  // Pack the trees straight into the fabric, and put the phases together.
  if (options.packing.progress) options.packing.progress("packing", std::nullopt);
  start = std::chrono::steady_clock::now();
  auto result = pack_best(problem, options, *chosen, begun);
  if (result) result->seconds.pack += seconds_since(start);
  return result;
}

}  // namespace forestcoll::solver
