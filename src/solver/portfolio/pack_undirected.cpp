#include "solver/portfolio/pack_undirected.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "forestcoll/congestion.hpp"
#include "forestcoll/stopwatch.hpp"
#include "solver/allreduce/part_both_ways.hpp"
#include "solver/pack/flat_by_parts.hpp"
#include "solver/pack/star_shares.hpp"
#include "solver/portfolio/best_forest.hpp"
#include "solver/portfolio/numbers_of_trees.hpp"
#include "solver/rate/scale.hpp"
#include "solver/symmetry/symmetry.hpp"

namespace forestcoll::solver {
namespace {

// Numbers of trees that are tried where any will do.
constexpr std::int64_t kMostUndirected = 128;

// What fewer trees may lose of the rate that more allow.
constexpr double kNearlyAll = 1 - 1.0 / 1024;

// More than the links need where no trees are found that fill all of them.
const std::array<Ratio, 3> kSlacks = {Ratio(1), Ratio(129, 128), Ratio(33, 32)};

// Heights above the least up to which trees are mended.
constexpr std::int32_t kMoreUndirected = 1;

// Ranks up to which a forest is mended as a whole.
constexpr std::size_t kMostMendedWhole = 2'048;

std::int64_t trees_in_all(const Weights& trees) {
  return std::accumulate(trees.begin(), trees.end(), std::int64_t{0});
}

// The fewest trees that flat ones lose little by.
Weights choose_trees(const StarShares& shares, const SynthesizeOptions& options,
                     std::size_t ranks) {
  const std::vector<std::int64_t> numbers =
      is_any_number_open(options)
          ? numbers_asked_for({TreesPerRoot::Mode::power_of_two, kMostUndirected}, ranks)
          : numbers_asked_for(options.trees_per_root, ranks);
  std::vector<Weights> found;
  std::vector<double> rates;
  for (const std::int64_t k : numbers) {
    found.push_back(shares.trees(k));
    rates.push_back(static_cast<double>(trees_in_all(found.back())) /
                    shares.scale(found.back()).to_double());
  }
  const double enough = *std::ranges::max_element(rates) * kNearlyAll;
  const auto first = std::ranges::find_if(rates, [&](double rate) { return rate >= enough; });
  return std::move(found[static_cast<std::size_t>(first - rates.begin())]);
}

class UndirectedTrees {
 public:
  UndirectedTrees(const Network& network, const Network& part, const SynthesizeOptions& options,
                  const Synthesis& begun)
      : network_(network), part_(part), options_(options), begun_(begun) {}

  [[nodiscard]] const Weights& trees() const { return trees_; }

  std::optional<PackedTrees> run() {
    const Core whole = make_core(part_, part_.capacity);
    if (!arcs_back(whole)) return std::nullopt;
    const StarShares shares(whole);
    if (!shares.has_choice()) return std::nullopt;
    trees_ = choose_trees(shares, options_, network_.ranks.size());
    const auto least = scale_of(begun_.forest.optimum), in_turn = scale_of(*begun_.two_phases);
    if (!least || !in_turn) return std::nullopt;
    const Ratio tight = std::max(*least, shares.scale(trees_));
    if (tight >= *in_turn) return std::nullopt;
    for (const Ratio& slack : kSlacks) {
      const auto scale = checked_mul(tight, slack);
      if (!scale || (best_ && needed_ <= *scale) || !pack_at(*scale)) break;
    }
    return std::move(best_);
  }

 private:
  // How many times the capacities the trees need at this rate, in GB/s.
  [[nodiscard]] std::optional<Ratio> scale_of(const Ratio& algbw) const {
    const auto rate = checked_div(algbw, network_.unit);
    return rate ? checked_div(Ratio(trees_in_all(trees_)), *rate) : std::nullopt;
  }

  // Keeps what needs the least. False where nothing is found.
  bool pack_at(const Ratio& scale) {
    if (!capacities_fit(part_, scale)) return false;
    const Core core = make_core(part_, floor_capacities(part_, scale));
    const auto back = arcs_back(core);
    if (!back) return false;
    for (const Orbits& orbits : orbits_of(core)) {
      auto packed = pack_flat_undirected(core, orbits, *back, trees_, least_height(),
                                         kMoreUndirected, options_.packing);
      if (!packed) continue;
      const auto needed = checked_mul(scale, packed->stretch);
      if (!needed || (best_ && needed_ <= *needed)) continue;
      needed_ = *needed;
      best_ = std::move(packed);
      if (best_->fits()) break;
    }
    return best_.has_value();
  }

  // Of the fabric as it is: of what both directions have they are symmetries, too.
  [[nodiscard]] std::vector<Orbits> orbits_of(const Core& core) const {
    std::vector<Orbits> all;
    const bool is_whole = network_.ranks.size() <= kMostMendedWhole;
    const auto groups = is_whole ? std::vector<Symmetry>() : find_symmetries(network_, trees_);
    if (!groups.empty()) {
      for (const Symmetry& group : in_blocks(network_, groups.front())) {
        if (auto orbits = make_orbits(core, group)) all.push_back(*std::move(orbits));
      }
    }
    if (is_whole) all.push_back(trivial_orbits(core));
    return all;
  }

  // Flat trees of groups have height 2.
  [[nodiscard]] static LeastHeight least_height() {
    return {2, [] { return 2; }};
  }

  const Network& network_;
  const Network& part_;
  const SynthesizeOptions& options_;
  const Synthesis& begun_;
  Weights trees_;
  std::optional<PackedTrees> best_;
  Ratio needed_ = 0;  // how many times the capacities
};

}  // namespace

std::optional<Synthesis> pack_undirected(const Problem& problem, const SynthesizeOptions& options,
                                         const Synthesis& begun) {
  Stopwatch watch;
  const Network& network = problem.network;
  const std::optional<Network> both = part_both_ways(network);
  UndirectedTrees search(network, both ? *both : network, options, begun);
  auto packed = search.run();
  if (!packed) return std::nullopt;
  Synthesis result = begun;
  CollectiveForest& forest = result.forest;
  set_roots(forest, search.trees());
  forest.reduce = packed->forest.reversed();
  forest.broadcast = std::move(packed->forest);
  const auto algbw = congestion_algbw(forest, network);
  if (!algbw) return std::nullopt;
  result.allowed = forest.algbw = *algbw;
  result.least_height = least_height_of(forest, network);
  result.tradeoff = {{forest.k, *algbw}};
  result.seconds.pack += watch.restart();
  return result;
}

}  // namespace forestcoll::solver
