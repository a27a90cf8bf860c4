#include "forestcoll/synthesize.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "base/check.hpp"
#include "forestcoll/allreduce.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/congestion.hpp"
#include "forestcoll/stopwatch.hpp"
#include "solver/allreduce/at_once.hpp"
#include "solver/common/few_ranks.hpp"
#include "solver/common/limits_unknown.hpp"
#include "solver/low/low_trees.hpp"
#include "solver/pack/problem.hpp"
#include "solver/portfolio/beside_less.hpp"
#include "solver/portfolio/best_forest.hpp"
#include "solver/portfolio/coarser.hpp"
#include "solver/portfolio/kept_trees.hpp"
#include "solver/portfolio/lower_by_program.hpp"
#include "solver/portfolio/numbers_of_trees.hpp"
#include "solver/portfolio/pack_at_once.hpp"
#include "solver/portfolio/pack_boxes.hpp"
#include "solver/portfolio/pack_low_at_once.hpp"
#include "solver/portfolio/pack_undirected.hpp"

namespace forestcoll {
namespace {

using solver::Problem;

Diagnostic previous_misfit(std::string message) {
  return make_error(Code::R02, std::move(message),
                    "give a forest of the same collective, root and fabric, made before the "
                    "failure, or leave it out and pack from scratch");
}

// Trees can be kept only of the same collective among ranks that were all there.
Expected<void> refuse_previous(const CollectiveForest& previous, const Network& network,
                               const SynthesizeOptions& options) {
  if (previous.collective != options.collective) {
    return previous_misfit("the previous forest is for " +
                           std::string(to_string(previous.collective)) + ", not for " +
                           std::string(to_string(options.collective)));
  }
  const auto ranks = (previous.broadcast ? previous.broadcast : previous.reduce)->ranks();
  for (std::size_t r = 0; r < network.ranks.size(); ++r) {
    if (std::find(ranks.begin(), ranks.end(), network.ranks[r]) != ranks.end()) continue;
    return previous_misfit("rank " + std::to_string(r) + " is not in the previous forest");
  }
  if (options.root && ranks[previous.root->index()] != network.ranks[options.root->index()]) {
    return previous_misfit("the previous forest has another root");
  }
  return {};
}

// What is known before anything is packed.
struct Known {
  const Problem& problem;
  const solver::BothAtOnce& both;
  Ratio in_turn;  // the optimum of one phase after the other, or of the only one
  // Of both phases at once, where no division of the links is known that is better.
  std::optional<AllreduceOptimum> proved = {};

  [[nodiscard]] const Ratio& optimum() const { return both.parts ? both.parts->upper : in_turn; }
  // What no allreduce exceeds, where it may exceed one phase after the other.
  [[nodiscard]] std::optional<Ratio> upper() const {
    if (both.parts) return both.parts->upper;
    return proved && in_turn < proved->upper ? std::optional(proved->upper) : std::nullopt;
  }
  // What trees of divided links reach, or those of one phase after the other.
  [[nodiscard]] const Ratio& divided() const {
    return both.parts ? both.parts->best.algbw : in_turn;
  }
};

// Between what some trees reach and what a bound says that none exceed.
void name_interval(const Known& known, Synthesis& synthesis) {
  const auto upper = known.upper();
  if (!upper) return;
  synthesis.forest.optimum = *upper;
  Ratio least = std::max({known.in_turn, known.divided(), synthesis.forest.algbw});
  if (known.proved && known.proved->split) least = std::max(least, known.proved->split->algbw);
  if (least < synthesis.forest.optimum) synthesis.optimum_at_least = least;
}

Expected<Synthesis> pack_at_any_height(const Problem& problem,
                                       const std::optional<solver::AllreduceParts>& parts,
                                       const SynthesizeOptions& options, Synthesis begun) {
  return parts ? solver::pack_both_ways(problem, *parts, options, std::move(begun))
               : solver::choose_and_pack(problem, options, std::move(begun));
}

// The optimum of both phases at once is what their trees have to reach.
Synthesis begun_at_once(Synthesis begun, const std::optional<solver::AllreduceParts>& parts) {
  if (parts) begun.two_phases = std::exchange(begun.forest.optimum, parts->upper);
  return begun;
}

constexpr double kNearlyOptimal = 0.95;

Diagnostic too_low(std::int32_t max_height, std::int32_t least) {
  return make_error(Code::E16,
                    "no GPU reaches all others, and is reached by them, in " +
                        std::to_string(max_height) + " hops: one does in " + std::to_string(least),
                    "allow a height of " + std::to_string(least) + " or more");
}

// Then a search for more has little to gain.
bool is_nearly_optimal(const CollectiveForest& forest) {
  return share(forest.algbw, forest.optimum) >= kNearlyOptimal;
}

// Low trees of both phases at once come first: often nothing may be better.
Expected<Synthesis> pack_low_allreduce(const Problem& problem,
                                       const std::optional<solver::AllreduceParts>& parts,
                                       const SynthesizeOptions& options, Synthesis begun) {
  auto low =
      solver::pack_low_at_once(problem, options, begun_at_once(begun, parts), begun.forest.algbw);
  if (low && (low->is_optimal || low->synthesis.forest.algbw == low->synthesis.forest.optimum)) {
    return std::move(low->synthesis);
  }
  SynthesizeOptions rest = options;
  if (low && is_nearly_optimal(low->synthesis.forest)) rest.packing.effort = Effort::fast;
  if (low) begun.forest.algbw = std::max(begun.forest.algbw, low->synthesis.forest.algbw);
  auto other = pack_at_any_height(problem, parts, rest, std::move(begun));
  const bool are_few = problem.network.ranks.size() <= solver::kFewRanks;
  if (are_few && !low && !other && other.errors().front().code == Code::E16) {
    const std::int32_t least = solver::least_height_at_once(problem.network);
    if (least > *options.max_height) return too_low(*options.max_height, least);
  }
  if (!low || (other && !solver::is_better(low->synthesis.forest, other->forest))) return other;
  low->synthesis.stopped |= other && other->stopped;
  return std::move(low->synthesis);
}

// Of what divided links allow, where more is not worth higher trees.
constexpr double kEnough = 0.99;

// Where links are not divided before trees are packed, or any shares of the roots will do: equal
// ones have counts that more buffers are multiples of.
std::optional<Synthesis> pack_undirected(const Known& known, const SynthesizeOptions& options,
                                         Synthesis begun) {
  const Network& network = known.problem.network;
  const auto upper = known.upper();
  const bool has_shares = known.both.parts && !solver::is_any_number_open(options);
  if (!upper || has_shares || options.previous != nullptr || !network.weight.empty() ||
      network.ranks.size() <= solver::kFewRanks) {
    return std::nullopt;
  }
  begun.two_phases = std::exchange(begun.forest.optimum, *upper);
  return solver::pack_undirected(known.problem, options, begun);
}

// Nothing else is faster, or a little faster and as low.
bool is_enough(const Known& known, const SynthesizeOptions& options, const Synthesis& packed) {
  const Ratio& reached = packed.forest.algbw;
  const bool is_low = solver::height_of(packed.forest) <= packed.least_height + 1;
  if (is_low && options.trees_per_root.mode == TreesPerRoot::Mode::power_of_two) {
    return share(reached, known.divided()) >= kEnough;
  }
  return reached >= known.divided();
}

// Flat trees from box to box, at the rate that none exceed; by default nearly so.
std::optional<Synthesis> pack_boxes(const Known& known, const SynthesizeOptions& options,
                                    Synthesis begun) {
  const Network& network = known.problem.network;
  const bool is_open = solver::is_any_number_open(options) ||
                       options.trees_per_root.mode == TreesPerRoot::Mode::power_of_two;
  const auto upper = known.upper();
  if (!upper || !is_open || options.previous != nullptr || !network.weight.empty() ||
      network.ranks.size() <= solver::kFewRanks) {
    return std::nullopt;
  }
  begun.two_phases = std::exchange(begun.forest.optimum, *upper);
  return solver::pack_boxes(known.problem, options, begun);
}

// So that no other search is needed.
bool is_flat_enough(const Synthesis& flat) {
  return share(flat.forest.algbw, flat.forest.optimum) >= solver::kEnoughOfFlat &&
         solver::height_of(flat.forest) <= 2 * flat.least_height;
}

// Of an allreduce, or of one phase, whose trees may be of any height.
Expected<Synthesis> pack_without_boxes(const Known& known, const SynthesizeOptions& options,
                                       Synthesis begun) {
  const Problem& problem = known.problem;
  const std::optional<solver::AllreduceParts>& parts = known.both.parts;
  auto undirected = pack_undirected(known, options, begun);
  if (undirected && is_enough(known, options, *undirected)) return *std::move(undirected);
  auto packed = pack_at_any_height(problem, parts, options, begun);
  if (undirected && (!packed || solver::is_preferred(undirected->forest, packed->forest,
                                                     options.trees_per_root.mode))) {
    undirected->stopped = packed && packed->stopped;
    return *std::move(undirected);
  }
  if (packed) {
    // Those of both phases at once came first where they may be faster than one after the other.
    if (!known.upper()) solver::lower_by_boxes(problem, options, begun, *packed);
    solver::lower_by_program(problem, options, begun_at_once(std::move(begun), parts), *packed);
  }
  return packed;
}

Expected<Synthesis> pack_forest(const Known& known, const SynthesizeOptions& options,
                                Synthesis begun) {
  const Problem& problem = known.problem;
  const std::optional<solver::AllreduceParts>& parts = known.both.parts;
  const bool is_low = options.max_height && options.collective == Collective::allreduce;
  if (is_low && options.at_once) {
    return pack_low_allreduce(problem, parts, options, std::move(begun));
  }
  Stopwatch watch;
  auto boxes = pack_boxes(known, options, begun);
  if (boxes && (solver::is_any_number_open(options) || is_flat_enough(*boxes))) {
    return *std::move(boxes);
  }
  begun.seconds.pack += watch.restart();
  auto packed = pack_without_boxes(known, options, std::move(begun));
  if (boxes && (!packed ||
                solver::is_preferred(boxes->forest, packed->forest, options.trees_per_root.mode))) {
    return *std::move(boxes);
  }
  return packed;
}
// Previous trees cost no rate: where packing from scratch reaches more than packing around them,
// its forest stands, with those of the previous trees that are in it.
void prefer_cold(const Known& known, const SynthesizeOptions& options, Synthesis begun,
                 Synthesis& warm) {
  if (warm.stopped || warm.forest.algbw == warm.forest.optimum) return;
  SynthesizeOptions from_scratch = options;
  from_scratch.previous = nullptr;
  auto cold = pack_forest(known, from_scratch, std::move(begun));
  if (!cold || cold->forest.algbw <= warm.forest.algbw) return;
  cold->repack = kept_trees(*options.previous, cold->forest, known.problem.network);
  cold->seconds.pack += warm.seconds.pack;
  warm = *std::move(cold);
}

// Forests slower than `least` (GB/s) are worth nothing.
Expected<Synthesis> synthesize_on(const Network& network, const SynthesizeOptions& options,
                                  const Ratio& least, bool may_round);

// How much of a cut may be rounded away, as a power of two: the least first.
constexpr std::array<int, 5> kRoundedBits = {22, 20, 17, 14, 10};

bool is_worth_rounding(const Known& known, const SynthesizeOptions& options,
                       const Expected<Synthesis>& packed) {
  if (!packed) return packed.errors().front().code == Code::E14;
  if (options.trees_per_root.mode != TreesPerRoot::Mode::optimal || options.max_height)
    return false;
  if (packed->stopped) return false;
  return known.both.is_open || packed->forest.algbw < known.optimum();
}

// Where exact numbers do not fit, those of a fabric whose links are a little narrower may: its
// trees fit this one, too, and lose as little.
void try_rounded(const Known& known, const SynthesizeOptions& options,
                 Expected<Synthesis>& packed) {
  const Network& network = known.problem.network;
  if (!is_worth_rounding(known, options, packed)) return;
  std::optional<Ratio> least_cut;
  for (const solver::PhaseProblem& phase : known.problem.phases) {
    const Ratio rate(phase.rate.inverse.den(), phase.rate.inverse.num());
    least_cut = std::min(least_cut.value_or(rate), rate);
  }
  for (const int bits : kRoundedBits) {
    const auto less = solver::coarser(network, *least_cut, bits);
    if (!less) continue;
    auto found = synthesize_on(less->network, options, Ratio(0), false);
    if (!found || found->stopped) continue;
    const auto carried = congestion_algbw(found->forest, network);
    if (carried) found->forest.algbw = std::max(found->forest.algbw, *carried);
    if (packed && found->forest.algbw <= packed->forest.algbw) continue;
    found->rounded_to = less->grid;
    found->forest.optimum = known.optimum();
    found->optimum_at_least.reset();
    if (found->two_phases) found->two_phases = known.in_turn;
    found->broadcast_rate = known.problem.broadcast_rate();
    found->reduce_rate = known.problem.reduce_rate();
    packed = std::move(found);
    // All of a cut that is not rounded away.
    const double kept = 1 - std::ldexp(1.0, 1 - bits);
    if (packed->forest.algbw.to_double() >= kept * known.optimum().to_double()) return;
  }
}

Expected<Synthesis> synthesize_on(const Network& network, const SynthesizeOptions& options,
                                  const Ratio& least, bool may_round) {
  FORESTCOLL_CHECK(options.previous == nullptr || !options.max_height, "one of the two");
  Synthesis begun;
  CollectiveForest& forest = begun.forest;
  forest.collective = options.collective;
  forest.root = options.root;
  if (!options.root) forest.weight = network.weight;
  forest.algbw = least;
  if (options.previous != nullptr) {
    const auto done = refuse_previous(*options.previous, network, options);
    if (!done) return done.errors();
  }

  // 1. What is the best possible? The cuts are the proof.
  if (options.packing.progress) options.packing.progress("finding the rate", std::nullopt);
  Stopwatch watch;
  const Problem problem(network, options.collective, options.root, options.packing.stop);
  if (const auto done = solver::refuse_open_rate(problem); !done) return done.errors();
  begun.broadcast_rate = problem.broadcast_rate();
  begun.reduce_rate = problem.reduce_rate();
  auto optimum = solver::optimum_of(problem);
  if (!optimum) return optimum.errors();
  forest.optimum = *optimum;
  solver::BothAtOnce both;
  if (options.collective == Collective::allreduce && options.at_once) {
    both = solver::parts_at_once(network, problem.weights, *optimum, options.packing.stop);
  }
  Known known{problem, both, *optimum};
  if (both.is_open && !both.parts) {
    auto proved = allreduce_optimum(network, {}, {.stop = options.packing.stop});
    if (proved) known.proved = *std::move(proved);
  }
  begun.seconds.rate = watch.restart();

  // 2. The trees: of both phases at once where that is better, else of one after the other.
  auto packed = pack_forest(known, options, begun);
  const bool may_be_faster = both.parts || (packed && packed->raised) ||
                             network.ranks.size() <= solver::LowTreeSearch::kMostExact;
  if (packed && options.previous != nullptr && may_be_faster) {
    prefer_cold(known, options, std::move(begun), *packed);
  }
  if (may_round) try_rounded(known, options, packed);
  if (packed && both.is_open) name_interval(known, *packed);
  return packed;
}

}  // namespace

Expected<Bound> bound(const Network& network, Collective collective, std::optional<Rank> root) {
  if (!network.limits.empty()) return solver::limits_unknown();
  if (const auto done = refuse_without_owner(network, collective); !done) return done.errors();
  const Problem problem(network, collective, root);
  Bound result;
  result.broadcast_rate = problem.broadcast_rate();
  result.reduce_rate = problem.reduce_rate();
  auto k = solver::k_of_optimum(problem);
  if (!k) return k.errors();
  result.k = *k;
  auto algbw = solver::optimum_of(problem);
  if (!algbw) return algbw.errors();
  result.algbw = *algbw;
  return result;
}

Expected<Synthesis> synthesize(const Network& network, const SynthesizeOptions& options) {
  if (!network.limits.empty()) return solver::limits_unknown();
  if (const auto done = refuse_without_owner(network, options.collective); !done) {
    return done.errors();
  }
  const auto attempt = [&](const SynthesizeOptions& asked, const Ratio& least) {
    return synthesize_on(network, asked, least, true);
  };
  return solver::best_beside_less(network, options, attempt);
}

}  // namespace forestcoll
