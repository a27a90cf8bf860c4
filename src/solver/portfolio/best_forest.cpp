#include "solver/portfolio/best_forest.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "forestcoll/pack.hpp"
#include "forestcoll/stopwatch.hpp"
#include "solver/allreduce/at_once.hpp"
#include "solver/common/few_ranks.hpp"
#include "solver/height/bound/bound.hpp"
#include "solver/pack/pack_trees.hpp"
#include "solver/pack/search/low_forests.hpp"
#include "solver/portfolio/numbers_of_trees.hpp"
#include "solver/portfolio/pack_phases.hpp"
#include "solver/symmetry/network_orbits.hpp"

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

// Of the rate, what trees that are lower by a quarter are worth.
constexpr double kWorthLower = 0.99;

// Of the rate of more trees, what fewer reach that are as good where a packing takes seconds.
constexpr double kAsGood = 0.999;

bool are_much_lower(std::int32_t height, std::int32_t than) {
  return 4 * height <= 3 * than;
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

// One root of each orbit is packed, and takes its images with it.
bool has_many_roots(const Problem& problem) {
  const Network& network = problem.network;
  if (!is_packed_by_parts(network.ranks.size())) return false;
  const Partition orbits = find_node_orbits(network, problem.weights);
  std::set<std::size_t> of_ranks;
  for (const NodeId v : network.ranks) of_ranks.insert(orbits.of[v.index()]);
  return of_ranks.size() > kFewRanks;
}

GivenUp facts_of(const CollectiveForest& forest) {
  return {forest.k, forest.algbw, height_of(forest)};
}

/// Packs at one number of trees after the other, and keeps the best. The greatest effort is for
/// longer searches of those that are tried by default: each takes seconds.
class NumberSearch {
 public:
  NumberSearch(const Problem& problem, const SynthesizeOptions& options, const ChosenScale& chosen,
               const Synthesis& begun)
      : problem_(problem),
        options_(options),
        chosen_(chosen),
        begun_(begun),
        patience_(std::min(options.packing.effort, Effort::normal), edges_of_one()) {}

  // At `chosen`, and at other numbers of trees where those may be better.
  Expected<Synthesis> run() {
    if (auto fewest = try_fewest()) return *std::move(fewest);
    auto first = pack_phases(problem_, options_, chosen_, begun_);
    if (!first || first->stopped || options_.previous != nullptr) return first;
    best_ = *std::move(first);
    fastest_ = facts_of(best_.forest);
    if (!is_done()) try_others();
    if (best_.forest.algbw < fastest_.algbw) best_.given_up = fastest_;
    return std::move(best_);
  }

 private:
  // Of thousands of ranks that differ the fewest trees that are nearly as fast, where they are low.
  [[nodiscard]] std::optional<Synthesis> try_fewest() const {
    if (options_.trees_per_root.mode != TreesPerRoot::Mode::power_of_two || options_.max_height ||
        options_.previous != nullptr || chosen_.scalings.empty()) {
      return std::nullopt;
    }
    const auto is_as_good = [&](const Ratio& algbw) {
      return share(algbw, chosen_.algbw) >= kAsGood;
    };
    const auto row = std::ranges::find_if(chosen_.rows, is_as_good, &RateAtK::algbw);
    if (row == chosen_.rows.end() || row->k >= chosen_.scalings.front().k ||
        !has_many_roots(problem_)) {
      return std::nullopt;
    }
    auto scaled =
        choose_scale(problem_.phases, {TreesPerRoot::Mode::fixed, row->k}, options_.packing.stop);
    if (!scaled || scaled->stopped) return std::nullopt;
    auto packed = pack_phases(problem_, options_, *scaled, begun_);
    const bool is_taken = packed && !packed->stopped && is_as_good(packed->forest.algbw) &&
                          height_of(packed->forest) <= packed->least_height + 1;
    return is_taken ? std::optional(*std::move(packed)) : std::nullopt;
  }

  [[nodiscard]] std::int64_t edges_of_one() const {
    const auto ranks = static_cast<std::int64_t>(problem_.network.ranks.size());
    const auto roots =
        std::ranges::count_if(problem_.weights, [](auto weight) { return weight > 0; });
    return ranks * roots;
  }

  [[nodiscard]] bool is_done() const {
    if (best_.forest.algbw == best_.forest.optimum && !may_be_lower(best_, options_, problem_)) {
      return true;
    }
    return options_.max_height && is_searched_by_phase(problem_, options_);
  }

  // By what the cuts allow at another number, which is the highest of those that are left.
  [[nodiscard]] bool may_be_better(const RateAtK& other) const {
    const Ratio& known = best_.forest.algbw;
    if (other.algbw < known && !may_exceed_cuts(problem_)) return false;
    return other.algbw != known || may_be_lower(best_, options_, problem_);
  }

  // Among low trees, copies of a number that divides this one were looked for, too.
  [[nodiscard]] bool was_searched(std::int64_t k) const {
    return options_.max_height && std::ranges::any_of(searched_, [&](std::int64_t other) {
             return is_open_divisor(k, other);
           });
  }

  void try_others() {
    for (const Scaling& scaling : chosen_.scalings) searched_.push_back(scaling.k);
    for (const RateAtK& other :
         other_numbers(problem_, options_, chosen_, options_.max_height.has_value())) {
      if (best_.stopped || !may_be_better(other)) break;
      if (was_searched(other.k)) continue;
      if (has_budget(best_, options_, other) && patience_.is_over()) break;
      const auto is_taken = try_number(other.k);
      if (!is_taken) break;
      searched_.push_back(other.k);
      patience_.spend(other.k, *is_taken);
    }
  }

  // Whether it is better; nothing where there is none.
  std::optional<bool> try_number(std::int64_t k) {
    auto again =
        choose_scale(problem_.phases, {TreesPerRoot::Mode::fixed, k}, options_.packing.stop);
    if (!again || again->stopped) return std::nullopt;
    auto next = pack_phases(problem_, options_, *again, begun_);
    if (!next) return std::nullopt;
    const bool stopped = next->stopped;
    const bool is_taken = offer(*std::move(next));
    best_.stopped = stopped;
    return is_taken;
  }

  // True where it is better.
  bool offer(Synthesis next) {
    if (fastest_.algbw < next.forest.algbw) fastest_ = facts_of(next.forest);
    if (share(next.forest.algbw, fastest_.algbw) < kWorthLower) return false;
    if (!is_preferred(next.forest, best_.forest, options_.trees_per_root.mode)) return false;
    best_ = std::move(next);
    return true;
  }

  const Problem& problem_;
  const SynthesizeOptions& options_;
  const ChosenScale& chosen_;
  const Synthesis& begun_;
  Patience patience_;
  std::vector<std::int64_t> searched_;
  Synthesis best_;
  GivenUp fastest_;
};

}  // namespace

void set_roots(CollectiveForest& forest, Weights trees) {
  forest.weight = std::move(trees);
  forest.k = take_common_factor(forest.weight);
  if (std::ranges::all_of(forest.weight, [](std::int64_t w) { return w == 1; })) forest.weight = {};
}

std::int32_t least_height_of(const CollectiveForest& forest, const Network& network) {
  const auto rate = checked_div(forest.algbw, network.unit);
  return allreduce_height_bound(network, rate.value_or(Ratio(0)), forest.broadcast->symmetry());
}

std::int32_t height_of(const CollectiveForest& forest) {
  return size_of(forest).height;
}

bool is_better(const CollectiveForest& a, const CollectiveForest& b) {
  if (a.algbw != b.algbw) return b.algbw < a.algbw;
  const Size ours = size_of(a), theirs = size_of(b);
  return std::tie(ours.height, ours.trees) < std::tie(theirs.height, theirs.trees);
}

bool is_preferred(const CollectiveForest& a, const CollectiveForest& b, TreesPerRoot::Mode mode) {
  if (mode == TreesPerRoot::Mode::power_of_two) {
    const std::int32_t ours = height_of(a), theirs = height_of(b);
    if (are_much_lower(ours, theirs)) return share(a.algbw, b.algbw) >= kWorthLower;
    if (are_much_lower(theirs, ours)) return share(b.algbw, a.algbw) < kWorthLower;
  }
  return is_better(a, b);
}

Expected<Synthesis> choose_and_pack(const Problem& problem, const SynthesizeOptions& options,
                                    Synthesis begun) {
  // Make capacities integral; that fixes the number of trees per root.
  Stopwatch watch;
  auto chosen = choose_scale(problem.phases, options.trees_per_root, options.packing.stop);
  if (!chosen) return chosen.errors();
  prefer_previous_number(problem, options, *chosen);
  begun.stopped = chosen->stopped;
  begun.tradeoff = chosen->rows;
  begun.seconds.rate += watch.restart();

  // Pack the trees straight into the fabric, and put the phases together.
  if (options.packing.progress) options.packing.progress("packing", std::nullopt);
  auto result = NumberSearch(problem, options, *chosen, begun).run();
  if (result) result->seconds.pack += watch.restart();
  return result;
}

}  // namespace forestcoll::solver
