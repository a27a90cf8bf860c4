#include "solver/portfolio/pack_boxes.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "forestcoll/congestion.hpp"
#include "forestcoll/stopwatch.hpp"
#include "solver/common/few_ranks.hpp"
#include "solver/common/forest_scale.hpp"
#include "solver/flat/flat_forests.hpp"
#include "solver/portfolio/best_forest.hpp"
#include "solver/portfolio/numbers_of_trees.hpp"
#include "solver/rate/scale.hpp"

namespace forestcoll::solver {
namespace {

// Hops above the bound from which flat trees of one phase are looked for.
constexpr std::int32_t kWorthBoxes = 2;

// GPUs up to which lanes of all pairs of boxes take a second or so, where they are not all that is
// asked for.
constexpr std::size_t kMostRanksOfBoxes = 1'024;

bool is_one_phase(const Problem& problem) {
  return problem.broadcast != problem.reduce;
}

void put_allreduce(FlatForests found, CollectiveForest& forest) {
  set_roots(forest, std::move(found.trees));
  forest.broadcast = std::move(found.broadcast);
  forest.reduce = std::move(found.reduce);
}

void put_one_phase(const Problem& problem, FlatForests found, CollectiveForest& forest) {
  const Weights& weights = problem.phases.front().weights;
  for (std::size_t r = 0; r < weights.size(); ++r) {
    if (weights[Rank(r)] > 0) forest.k = found.trees[Rank(r)] / weights[Rank(r)];
  }
  if (problem.broadcast) {
    forest.broadcast = std::move(found.broadcast);
  } else {
    forest.reduce = found.broadcast.reversed();
  }
}

// Of the trees with these insides of boxes.
std::optional<Synthesis> pack_inside(const Problem& problem, const SynthesizeOptions& options,
                                     const Synthesis& begun, InsideBoxes inside) {
  const PhaseProblem& phase = problem.phases.front();
  const Network& network = is_one_phase(problem) ? phase.network : problem.network;
  const auto rate = checked_div(begun.forest.optimum, network.unit);
  if (!rate) return std::nullopt;
  FlatOptions flat{.inside = inside, .stop = options.packing.stop};
  if (is_one_phase(problem)) flat.owed = phase.weights;
  if (!is_any_number_open(options)) {
    flat.numbers = numbers_asked_for(options.trees_per_root, network.ranks.size());
  }
  auto found = flat_forests(network, *rate, flat);
  if (!found) return std::nullopt;
  Synthesis result = begun;
  CollectiveForest& forest = result.forest;
  if (is_one_phase(problem)) {
    put_one_phase(problem, *std::move(found), forest);
  } else {
    put_allreduce(*std::move(found), forest);
  }
  const auto algbw = congestion_algbw(forest, problem.network);
  if (!algbw || (is_any_number_open(options) && *algbw != forest.optimum)) return std::nullopt;
  result.allowed = forest.algbw = *algbw;
  if (!is_any_number_open(options)) result.tradeoff = {{forest.k, *algbw}};
  return result;
}

std::optional<Synthesis> better_of(std::optional<Synthesis> a, std::optional<Synthesis> b,
                                   const SynthesizeOptions& options) {
  if (!a || !b) return a ? std::move(a) : std::move(b);
  return is_preferred(b->forest, a->forest, options.trees_per_root.mode) ? std::move(b)
                                                                         : std::move(a);
}

// Of one phase: what holds of the higher rate that was packed may not hold of a lower one.
std::int32_t bound_of_one(const Problem& problem, const Synthesis& packed, const Synthesis& found) {
  if (found.forest.algbw >= packed.forest.algbw) return packed.least_height;
  const PhaseProblem& phase = problem.phases.front();
  const Forest& trees = problem.broadcast ? *found.forest.broadcast : *found.forest.reduce;
  const Ratio scale = forest_scale(phase.network, problem.broadcast ? trees : trees.reversed());
  return height_lower_bound(phase.network, phase.weights,
                            {found.forest.k, scale, floor_capacities(phase.network, scale)});
}

}  // namespace

std::optional<Synthesis> pack_boxes(const Problem& problem, const SynthesizeOptions& options,
                                    const Synthesis& begun) {
  Stopwatch watch;
  const bool is_asked = !is_one_phase(problem) && is_any_number_open(options);
  if (!is_asked && problem.network.ranks.size() > kMostRanksOfBoxes) return std::nullopt;
  auto found = pack_inside(problem, options, begun, InsideBoxes::stars);
  if (!found || share(found->forest.algbw, found->forest.optimum) < kEnoughOfFlat) {
    found = better_of(std::move(found), pack_inside(problem, options, begun, InsideBoxes::trees),
                      options);
  }
  if (!found) return std::nullopt;
  if (!is_one_phase(problem)) {
    found->least_height = least_height_of(found->forest, problem.network);
  }
  found->seconds.pack += watch.restart();
  return found;
}

void lower_by_boxes(const Problem& problem, const SynthesizeOptions& options,
                    const Synthesis& begun, Synthesis& packed) {
  using Mode = TreesPerRoot::Mode;
  const Mode mode = options.trees_per_root.mode;
  const bool is_asked = options.max_height || options.previous != nullptr || options.root ||
                        (mode != Mode::optimal && mode != Mode::power_of_two);
  const bool may_be_boxes =
      is_one_phase(problem) || (options.at_once && problem.network.weight.empty());
  if (!may_be_boxes || is_asked || packed.stopped || problem.network.ranks.size() <= kFewRanks ||
      height_of(packed.forest) < packed.least_height + kWorthBoxes) {
    return;
  }
  auto found = pack_boxes(problem, options, begun);
  if (!found || !is_preferred(found->forest, packed.forest, mode)) return;
  if (is_one_phase(problem)) found->least_height = bound_of_one(problem, packed, *found);
  if (found->forest.algbw < packed.forest.algbw) {
    found->given_up = GivenUp{packed.forest.k, packed.forest.algbw, height_of(packed.forest)};
  }
  found->tradeoff = std::move(packed.tradeoff);
  found->statistics = packed.statistics;
  found->seconds.pack += packed.seconds.pack;
  packed = *std::move(found);
}

}  // namespace forestcoll::solver
