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
// how low, nor asked for the least number that reaches the optimum.
bool may_be_lower(const Synthesis& best, const SynthesizeOptions& options, const Problem& problem) {
  if (options.max_height || options.trees_per_root.mode == TreesPerRoot::Mode::optimal ||
      problem.network.ranks.size() > kFewRanks) {
    return false;
  }
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
  if (best->forest.algbw == best->forest.optimum && !may_be_lower(*best, options, problem)) {
    return best;
  }
  const bool are_low = options.max_height.has_value();
  if (are_low && is_searched_by_phase(problem, options)) return best;
  for (const RateAtK& other : other_numbers(problem, options, chosen, are_low)) {
    const Ratio& known = best->forest.algbw;
    if (other.algbw < known) break;
    if (other.algbw == known && !may_be_lower(*best, options, problem)) break;
    auto again =
        choose_scale(problem.phases, {TreesPerRoot::Mode::fixed, other.k}, options.packing.stop);
    if (!again || again->stopped) break;
    auto next = pack_phases(problem, options, *again, begun);
    if (!next) break;
    const bool stopped = next->stopped;
    if (is_better(next->forest, best->forest)) best = std::move(next);
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
