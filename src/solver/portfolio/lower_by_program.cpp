#include "solver/portfolio/lower_by_program.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "solver/common/few_ranks.hpp"
#include "solver/low/low_trees.hpp"
#include "solver/pack/search/low_by_program.hpp"
#include "solver/pack/search/max_height.hpp"
#include "solver/portfolio/best_forest.hpp"
#include "solver/portfolio/numbers_of_trees.hpp"
#include "solver/portfolio/pack_low_at_once.hpp"

namespace forestcoll::solver {
namespace {

// Trees per root up to which any number will do for lower trees, where the least number that
// reaches the optimum is asked for, and what is tried of many.
constexpr std::int64_t kMostForLower = 16;
constexpr std::size_t kMostNumbers = 16;

// Of k trees per root, what other shares leave of the rate that makes them worth it.
constexpr double kGainOfShares = 0.95;

// Those that may be as fast.
std::vector<std::int64_t> numbers_of(const Synthesis& packed, const SynthesizeOptions& options) {
  std::vector<std::int64_t> numbers;
  if (is_any_number_open(options)) {
    const std::int64_t least = packed.forest.k;
    for (std::int64_t k = least; k <= std::max(least, kMostForLower); k += least) {
      numbers.push_back(k);
    }
  } else if (options.trees_per_root.mode == TreesPerRoot::Mode::fixed) {
    numbers.push_back(options.trees_per_root.value);
  } else {
    for (const RateAtK& row : packed.tradeoff) {
      if (packed.forest.algbw <= row.algbw) numbers.push_back(row.k);
    }
  }
  if (numbers.size() > kMostNumbers) numbers.resize(kMostNumbers);
  return numbers;
}

// Of one height: the forest of the fewest trees that is as fast as `packed`.
std::optional<Packing> as_fast(const Problem& problem, const SynthesizeOptions& options,
                               const Synthesis& packed, std::int32_t height) {
  const PhaseProblem& phase = problem.phases.front();
  auto found = pack_by_program(phase.network, phase.weights, height, numbers_of(packed, options),
                               false, options.packing);
  for (Packing& packing : found.packings) {
    const auto algbw = algbw_of(problem.phases, {{packing.scaling.scale, packing.scaling.k}});
    if (algbw && packed.forest.algbw <= *algbw) return std::move(packing);
  }
  return std::nullopt;
}

// As many trees as `packed` has, by search.
std::optional<Packing> by_search(const Problem& problem, const SynthesizeOptions& options,
                                 const Synthesis& packed, std::int32_t height) {
  const PhaseProblem& phase = problem.phases.front();
  const auto chosen = choose_scale(problem.phases, {TreesPerRoot::Mode::fixed, packed.forest.k},
                                   options.packing.stop);
  if (!chosen || chosen->stopped || chosen->algbw != packed.forest.algbw) return std::nullopt;
  const Scaling& scaling = chosen->scalings.front();
  const auto each = checked_div(scaling.scale, Ratio(scaling.k));
  if (!each) return std::nullopt;
  auto found = pack_within_height(phase.network, phase.weights, scaling, height, options.packing,
                                  {.most_scale = *each});
  return found ? std::optional(*std::move(found)) : std::nullopt;
}

void lower_phase(const Problem& problem, const SynthesizeOptions& options, Synthesis& packed) {
  const PhaseProblem& phase = problem.phases.front();
  CollectiveForest& forest = packed.forest;
  for (std::int32_t height = height_of(forest) - 1; height >= packed.least_height; --height) {
    auto lower = as_fast(problem, options, packed, height);
    if (!lower) lower = by_search(problem, options, packed, height);
    if (!lower) return;
    forest.k = lower->scaling.k;
    if (problem.broadcast) {
      forest.broadcast = std::move(lower->forest);
    } else {
      forest.reduce = lower->forest.reversed();
    }
    packed.least_height = height_lower_bound(phase.network, phase.weights, lower->scaling);
    height = std::min(height, height_of(forest));
  }
}

std::int64_t trees_in(const CollectiveForest& forest) {
  std::int64_t trees = 0;
  for (std::size_t t = 0; t < forest.broadcast->tree_count(); ++t) {
    trees += forest.broadcast->tree(TreeId(t)).multiplicity;
  }
  return trees;
}

// What lower trees may take where they are no faster.
std::int64_t most_trees(const Problem& problem, const CollectiveForest& packed) {
  std::int64_t owed = 0;
  for (const std::int64_t weight : problem.weights) owed += weight;
  return std::max(trees_in(packed), owed * kMostForLower);
}

// Unequal shares make unequal work for threadblocks, which costs time where links do not: so where
// k trees per root are asked for, they have to gain more than that.
bool is_worth(const Problem& problem, const SynthesizeOptions& options,
              const CollectiveForest& lower, const CollectiveForest& packed) {
  using Mode = TreesPerRoot::Mode;
  const Mode mode = options.trees_per_root.mode;
  if (mode == Mode::fixed || mode == Mode::power_of_two) {
    return share(packed.algbw, lower.algbw) < kGainOfShares;
  }
  if (lower.algbw != packed.algbw) return packed.algbw < lower.algbw;
  return height_of(lower) < height_of(packed) && trees_in(lower) <= most_trees(problem, packed);
}

// By k, the higher rate of both.
std::vector<RateAtK> best_of(std::vector<RateAtK> rows, const std::vector<RateAtK>& others) {
  for (RateAtK& row : rows) {
    for (const RateAtK& other : others) {
      if (other.k == row.k) row.algbw = std::max(row.algbw, other.algbw);
    }
  }
  return rows;
}

void lower_at_once(const Problem& problem, const SynthesizeOptions& options, const Synthesis& begun,
                   Synthesis& packed) {
  if (!problem.network.weight.empty()) return;  // shares that somebody gave stay
  SynthesizeOptions low = options;
  const auto ranks = static_cast<std::int32_t>(problem.network.ranks.size());
  const bool is_fastest = packed.forest.algbw == packed.forest.optimum;
  low.max_height = is_fastest ? height_of(packed.forest) - 1 : ranks - 1;
  if (*low.max_height < packed.least_height) return;
  const Ratio least = is_fastest ? packed.forest.algbw : Ratio(0);
  auto found = pack_low_at_once(problem, low, begun, least);
  if (!found || !is_worth(problem, options, found->synthesis.forest, packed.forest)) return;
  Synthesis& lower = found->synthesis;
  lower.tradeoff = best_of(std::move(packed.tradeoff), lower.tradeoff);
  lower.statistics = packed.statistics;
  lower.seconds.pack += packed.seconds.pack;
  packed = std::move(lower);
}

}  // namespace

void lower_by_program(const Problem& problem, const SynthesizeOptions& options,
                      const Synthesis& begun, Synthesis& packed) {
  if (options.max_height || options.previous != nullptr || packed.stopped) return;
  const std::size_t ranks = problem.network.ranks.size();
  if (problem.broadcast && problem.reduce) {
    const bool may_be_lower = is_any_number_open(options) && ranks <= kFewRanks &&
                              packed.forest.algbw == packed.forest.optimum;
    if (options.at_once && (may_be_lower || ranks <= LowTreeSearch::kMostExact)) {
      lower_at_once(problem, options, begun, packed);
    }
  } else if (ranks <= LowTreeSearch::kMostExact) {
    lower_phase(problem, options, packed);
  }
}

}  // namespace forestcoll::solver
