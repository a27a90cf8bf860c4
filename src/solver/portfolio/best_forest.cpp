#include "solver/portfolio/best_forest.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <tuple>
#include <utility>

#include "forestcoll/pack.hpp"
#include "solver/common/few_ranks.hpp"
#include "solver/pack/search/low_forests.hpp"
#include "solver/portfolio/numbers_of_trees.hpp"
#include "solver/portfolio/pack_phases.hpp"

namespace forestcoll::solver {
namespace {

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

// Other numbers of equally fast trees are worth a search where they may be lower, and nobody said
// how low.
bool may_be_lower(const Synthesis& best, const SynthesizeOptions& options, const Problem& problem) {
  if (options.max_height || problem.network.ranks.size() > kFewRanks) return false;
  const std::int32_t height = size_of(best.forest).height;
  return std::any_of(problem.phases.begin(), problem.phases.end(), [&](const PhaseProblem& phase) {
    return height_lower_bound(phase.network, phase.weights) < height;
  });
}

// Rounded to k trees, what one phase leaves of an arc serves the other.
bool may_exceed_cuts(const Problem& problem) {
  return problem.is_divided() && problem.network.ranks.size() <= kFewRanks;
}

// Where the optimum is reached with the least number of trees, as was asked for, or what others
// gain is no more than luck.
bool has_budget(const Synthesis& best, const SynthesizeOptions& options, const RateAtK& other) {
  const bool is_reached = is_any_number_open(options) && best.forest.algbw == best.forest.optimum;
  return is_reached || other.algbw < best.forest.algbw;
}

// Trees are kept as they are where as many reach the optimum, too.
void prefer_previous_number(const Problem& problem, const SynthesizeOptions& options,
                            ChosenScale& chosen) {
  if (options.previous == nullptr || !is_any_number_open(options) || chosen.stopped) return;
  auto as_before = choose_scale(problem.phases, {TreesPerRoot::Mode::fixed, options.previous->k},
                                options.packing.stop);
  if (as_before && !as_before->stopped && as_before->algbw == chosen.algbw) {
    chosen = *std::move(as_before);
  }
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// `pack_phases` at `chosen`, and at other numbers of trees where those may be better.
Expected<Synthesis> pack_best(const Problem& problem, const SynthesizeOptions& options,
                              const ChosenScale& chosen, const Synthesis& begun) {
  auto best = pack_phases(problem, options, chosen, begun);
  if (!best || best->stopped || options.previous != nullptr) return best;
  if (best->forest.algbw == best->forest.optimum && !may_be_lower(*best, options, problem)) {
    return best;
  }
  const bool are_low = options.max_height.has_value();
  if (are_low && is_searched_by_phase(problem, options)) return best;
  const auto ranks = static_cast<std::int64_t>(problem.network.ranks.size());
  const auto roots = std::ranges::count_if(problem.weights, [](auto weight) { return weight > 0; });
  Patience patience(options.packing.effort, ranks * roots);
  for (const RateAtK& other : other_numbers(problem, options, chosen, are_low)) {
    const Ratio& known = best->forest.algbw;
    if (other.algbw < known && !may_exceed_cuts(problem)) break;
    if (other.algbw == known && !may_be_lower(*best, options, problem)) break;
    if (has_budget(*best, options, other) && patience.is_over()) break;
    auto again =
        choose_scale(problem.phases, {TreesPerRoot::Mode::fixed, other.k}, options.packing.stop);
    if (!again || again->stopped) break;
    auto next = pack_phases(problem, options, *again, begun);
    if (!next) break;
    const bool stopped = next->stopped;
    const bool has_found_better = is_better(next->forest, best->forest);
    if (has_found_better) best = std::move(next);
    patience.spend(other.k, has_found_better);
    best->stopped = stopped;
    if (stopped) break;
  }
  return best;
}

}  // namespace

std::int32_t height_of(const CollectiveForest& forest) {
  return size_of(forest).height;
}

bool is_better(const CollectiveForest& a, const CollectiveForest& b) {
  if (a.algbw != b.algbw) return b.algbw < a.algbw;
  const Size ours = size_of(a), theirs = size_of(b);
  return std::tie(ours.height, ours.trees) < std::tie(theirs.height, theirs.trees);
}

Expected<Synthesis> choose_and_pack(const Problem& problem, const SynthesizeOptions& options,
                                    Synthesis begun) {
  // Make capacities integral; that fixes the number of trees per root.
  auto start = std::chrono::steady_clock::now();
  auto chosen = choose_scale(problem.phases, options.trees_per_root, options.packing.stop);
  if (!chosen) return chosen.errors();
  prefer_previous_number(problem, options, *chosen);
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
