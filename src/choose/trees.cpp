// Runtimes take a file only for element counts that its chunks divide, so k is a power of two. On
// many fabrics the optimum needs uneven trees, say three per root; cut into 32 chunks, they are 11,
// 11 and 10 chunks wide, and lose less than any forest of 16 equal ones. There is no better way to
// spread 2^m chunks over trees than to solve at k = 2^m: the solver finds the least scale at which
// the links carry that many trees, and what any rounding of another forest's widths reaches is such
// a scale as well.
//
// More chunks take more steps, which threadblocks must take one after the other: a schedule with a
// higher rate on the links can be slower. So the model has the last word.
#include "choose/trees.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "choose/as_written.hpp"
#include "choose/candidate_times.hpp"
#include "choose/fit_threadblocks.hpp"
#include "choose/settle.hpp"
#include "forestcoll/congestion.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/search_scale.hpp"
#include "solver/portfolio/best_forest.hpp"

namespace forestcoll {
namespace {

using choose::candidate_times;
using choose::fit_threadblocks;
using choose::FittedForest;
using choose::synthesize_at;

constexpr std::int64_t kFinest = 128;
constexpr std::int64_t kFirstFine = 32;
constexpr double kGainOfMoreChunks = 1.05;   // by the model, which is no finer
const Ratio kLeastOfEqualShares(49, 50);     // of their rate, for their trees to be taken
const Ratio kGainOfUnequalShares(101, 100);  // for which finer ones are taken, too

// At least half a percent more; of a plan, which the model times for few ranks alone, as much as by
// the model.
bool is_worth(const Ratio& rate, const Ratio& than, Format format) {
  const auto needed =
      checked_mul(than, format == Format::mscclpp ? Ratio(21, 20) : Ratio(201, 200));
  return needed && rate >= *needed;
}

// In an allreduce trees of both phases share threadblocks, so that the rate says little.
bool is_timed_as_plan(const Fabric& fabric, const CompileOptions& options) {
  return options.format == Format::mscclpp &&
         options.synthesis.collective == Collective::allreduce &&
         fabric.network.ranks.size() <= scale::kMostRanksOfTimedPlans;
}

bool stop_requested(const CompileOptions& options) {
  return options.synthesis.packing.stop.stop_requested();
}

std::string name_of(const CollectiveForest& forest) {
  if (forest.weight.empty()) return fmt::format("k = {}", forest.k);
  return fmt::format("{} chunks", chunks_of(forest));
}

std::string joined(std::string why, const std::string& more) {
  if (why.empty() || more.empty()) return why + more;
  return std::move(why) + "; " + more;
}

// The fastest of those that fit; none where none does. `candidates` have more and more chunks.
std::optional<ChosenForest> choose_by_model(std::vector<FittedForest> candidates,
                                            const Fabric& fabric, const CompileOptions& options) {
  std::erase_if(candidates, [](const FittedForest& each) { return !each.fits; });
  if (candidates.empty()) return std::nullopt;
  if (candidates.size() == 1) return std::move(candidates.front().chosen);
  if (options.synthesis.packing.progress) {
    options.synthesis.packing.progress("choosing k by the model", std::nullopt);
  }
  const auto times = candidate_times(candidates, fabric, options);
  if (!times) {
    ChosenForest highest = std::move(candidates.back().chosen);
    highest.why = joined(std::move(highest.why),
                         stop_requested(options)
                             ? "the highest rate that fits, as time was up for the model"
                             : "the highest rate that fits, as some are too large for the model");
    return highest;
  }
  // The chunks of a plan come from its shape more than from its trees.
  const double gain = options.format == Format::mscclpp ? 1 : kGainOfMoreChunks;
  std::size_t best = 0;
  std::string said;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    said += fmt::format("{}{} {:.2f} ms", said.empty() ? "" : ", ",
                        name_of(candidates[i].chosen.synthesis.forest), (*times)[i] * 1e3);
    if ((*times)[i] * gain < (*times)[best]) best = i;
  }
  ChosenForest chosen = std::move(candidates[best].chosen);
  chosen.why = joined(std::move(chosen.why), "fastest for 1 GiB, simulated: " + said);
  return chosen;
}

// The one of the highest rate that fits; else the highest, and whoever lowers it says why.
ChosenForest choose_by_rate(std::vector<FittedForest> candidates) {
  const auto fits = std::find_if(candidates.rbegin(), candidates.rend(),
                                 [](const FittedForest& each) { return each.fits; });
  return std::move((fits == candidates.rend() ? candidates.back() : *fits).chosen);
}

// Of unequal shares its own bound is one for these; what counts is the one for equal shares, which
// it can be above.
void take_bounds_of(const Synthesis& best, Synthesis& each) {
  each.forest.optimum = best.forest.optimum;
  each.optimum_at_least = best.optimum_at_least;
  each.tradeoff = best.tradeoff;
}

// What was given up for lower trees was reached.
Ratio reached_by(const Synthesis& synthesis) {
  return synthesis.given_up ? synthesis.given_up->algbw : synthesis.forest.algbw;
}

// Where fewer trees fit and these do not, more have more steps yet.
bool are_too_many(const std::vector<FittedForest>& found) {
  return found.size() > 1 && !found.back().fits && found[found.size() - 2].fits;
}

// Where the trees of `best` are more than their text may have, the fastest of fewer that are not.
std::optional<FittedForest> fewer_that_fit(const Synthesis& best, const Fabric& fabric,
                                           const CompileOptions& options) {
  std::vector<RateAtK> rows = best.tradeoff;
  std::erase_if(rows, [&](const RateAtK& row) { return row.k >= best.forest.k; });
  std::ranges::stable_sort(rows,
                           [](const RateAtK& a, const RateAtK& b) { return b.algbw < a.algbw; });
  for (const RateAtK& row : rows) {
    if (stop_requested(options)) break;
    auto fewer = synthesize_at(fabric.network, options.synthesis, row.k);
    if (!fewer) continue;
    FittedForest fitted = fit_threadblocks(*std::move(fewer), fabric, options);
    if (fitted.fits) return fitted;
  }
  return std::nullopt;
}

// With `best`, the best by rate up to 16: for schedules, fewer trees, as the model may find them
// faster; of many ranks those alone that have a higher rate than fewer yet. And more trees, as long
// as they gain and fit.
std::vector<FittedForest> by_rate(Synthesis best, const Fabric& fabric,
                                  const CompileOptions& options) {
  std::vector<RateAtK> rows = best.tradeoff;
  const Ratio optimum = best.forest.optimum;
  std::vector<FittedForest> found;
  const bool are_many = fabric.network.ranks.size() > scale::kMostRanksOfAllTrees;
  std::optional<Ratio> rate;
  for (const RateAtK& row : rows) {
    if (!is_schedule(options.format) || (are_many && rate && row.algbw <= *rate)) continue;
    if (row.k >= best.forest.k || stop_requested(options)) break;
    rate = row.algbw;
    auto fewer = synthesize_at(fabric.network, options.synthesis, row.k);
    if (fewer) found.push_back(fit_threadblocks(*std::move(fewer), fabric, options));
    if (are_too_many(found)) break;
  }
  if (!are_too_many(found)) found.push_back(fit_threadblocks(std::move(best), fabric, options));
  if (!is_schedule(options.format) && !found.back().fits) {
    auto fewer = fewer_that_fit(found.back().chosen.synthesis, fabric, options);
    if (fewer) found.insert(found.begin(), *std::move(fewer));
  }
  for (std::int64_t k = kFirstFine; k <= kFinest && found.back().fits; k *= 2) {
    const Ratio reached = reached_by(found.back().chosen.synthesis);
    if (!is_worth(optimum, reached, options.format)) break;
    auto finer = synthesize_at(fabric.network, options.synthesis, k);
    if (!finer) break;
    rows.push_back({k, finer->forest.algbw});
    const CollectiveForest& so_far = found.back().chosen.synthesis.forest;
    if (!is_worth(finer->forest.algbw, reached, options.format) ||
        !solver::is_preferred(finer->forest, so_far, TreesPerRoot::Mode::power_of_two)) {
      continue;
    }
    found.push_back(fit_threadblocks(*std::move(finer), fabric, options));
  }
  for (FittedForest& each : found) each.chosen.synthesis.tradeoff = rows;
  return found;
}

// Where a runtime's routes are others than the trees', or shares are unequal, the highest rate of
// trees says little: equal shares of all numbers of trees, made for the routes of a runtime.
void add_as_written(std::vector<FittedForest>& found, const Fabric& fabric,
                    const CompileOptions& options) {
  if (fabric.network.ranks.size() > scale::kMostRanksOfAllTrees) return;
  const Synthesis best = found.back().chosen.synthesis;  // a copy, as more are added to the list
  const auto by_peers = choose::algbw_by_peers(best.forest, fabric.network);
  const bool has_own_shares = !best.forest.weight.empty() && fabric.network.weight.empty();
  const bool is_as_told = by_peers && *by_peers >= best.forest.algbw;
  if (is_as_told && !has_own_shares) return;
  SynthesizeOptions fixed = options.synthesis;
  std::optional<std::vector<Synthesis>> half;
  for (std::int64_t k = 1; k <= scale::kMostTrees && !stop_requested(options); k *= 2) {
    fixed.trees_per_root = {TreesPerRoot::Mode::fixed, k};
    auto equal = choose::synthesize_as_written(fabric.network, fixed, options.format,
                                               half ? &*half : nullptr);
    half.reset();
    if (!equal || equal->front().stopped) continue;
    half = *equal;
    take_bounds_of(best, equal->front());
    found.push_back(fit_threadblocks(std::move(equal->front()), fabric, options));
  }
}

// Of a plan, for a number of ranks that is no power of two: no number of trees then serves powers
// of two, and the optimum's own is as good where it makes no finer chunks than others.
void add_optimum(std::vector<FittedForest>& found, const Fabric& fabric,
                 const CompileOptions& options) {
  const std::size_t ranks = fabric.network.ranks.size();
  if (options.format != Format::mscclpp || std::has_single_bit(ranks) || stop_requested(options)) {
    return;
  }
  const Synthesis best = found.back().chosen.synthesis;  // a copy, as more are added to the list
  SynthesizeOptions exact = options.synthesis;
  exact.trees_per_root = {TreesPerRoot::Mode::optimal};
  auto all = choose::synthesize_as_written(fabric.network, exact, options.format);
  if (!all) return;
  for (Synthesis& each : *all) {
    if (each.stopped || range_of_trees(each.forest).second > kFinest) continue;
    take_bounds_of(best, each);
    found.push_back(fit_threadblocks(std::move(each), fabric, options));
  }
}

// Shares that differ by one at most, the larger ones evenly among the ranks.
IdVector<Rank, std::int64_t> spread(std::int64_t chunks, std::int64_t ranks) {
  IdVector<Rank, std::int64_t> shares;
  for (std::int64_t r = 0; r < ranks; ++r) {
    shares.push_back((r + 1) * chunks / ranks - r * chunks / ranks);
  }
  return shares;
}

// The trees of equal shares, each as wide as its root's share makes it. Others, which are seldom
// better by a per cent, are sought for few ranks and where rounding costs these much of their rate.
std::optional<Synthesis> with_shares(const Synthesis& equal, IdVector<Rank, std::int64_t> shares,
                                     const Fabric& fabric, const CompileOptions& options) {
  const bool has_room = equal.forest.k <= *std::ranges::min_element(shares);
  if (equal.forest.weight.empty() && has_room && shares.size() > scale::kMostRanksPacked) {
    auto forest = choose::cut_into(equal.forest, shares, fabric.network);
    const auto least = checked_mul(equal.forest.algbw, kLeastOfEqualShares);
    if (forest && least && forest->algbw >= *least) {
      Synthesis unequal = equal;
      unequal.forest = *std::move(forest);
      unequal.allowed = unequal.forest.algbw;
      return unequal;
    }
  }
  Network shared = fabric.network;
  shared.weight = std::move(shares);
  return synthesize_at(shared, options.synthesis, 1);
}

// Nobody leaves the number of trees open.
Expected<ChosenForest> choose_as_asked(const Fabric& fabric, const CompileOptions& options) {
  auto found = choose::synthesize_as_written(fabric.network, options.synthesis, options.format);
  if (!found) return found.errors();
  for (std::size_t i = 0; i + 1 < found->size(); ++i) {
    FittedForest fitted = fit_threadblocks(std::move((*found)[i]), fabric, options);
    if (fitted.fits) return std::move(fitted.chosen);
  }
  return fit_threadblocks(std::move(found->back()), fabric, options).chosen;
}

}  // namespace

namespace choose {

std::optional<Synthesis> synthesize_at(const Network& network, const SynthesizeOptions& asked,
                                       std::int64_t k) {
  SynthesizeOptions fixed = asked;
  fixed.trees_per_root = {TreesPerRoot::Mode::fixed, k};
  auto found = synthesize(network, fixed);
  if (!found || found->stopped) return std::nullopt;
  return *std::move(found);
}

std::optional<CollectiveForest> cut_into(CollectiveForest forest,
                                         const IdVector<Rank, std::int64_t>& shares,
                                         const Network& network) {
  for (auto* phase : {&forest.reduce, &forest.broadcast}) {
    if (*phase) *phase = (*phase)->spread_over(shares);
  }
  const auto algbw = congestion_algbw(forest, network);
  if (!algbw) return std::nullopt;
  forest.algbw = *algbw;
  const auto [least, most] = std::ranges::minmax_element(shares);
  const bool are_equal = *least == *most;
  forest.k = are_equal ? *most : 1;
  forest.weight = are_equal ? IdVector<Rank, std::int64_t>() : shares;
  return forest;
}

std::vector<Synthesis> of_unequal_shares(const Synthesis& equal, const Fabric& fabric,
                                         const CompileOptions& options) {
  const auto ranks = static_cast<std::int64_t>(fabric.network.ranks.size());
  std::vector<Synthesis> found;
  if (options.synthesis.collective != Collective::allreduce || options.format != Format::msccl ||
      std::has_single_bit(static_cast<std::uint64_t>(ranks)) || !fabric.network.weight.empty()) {
    return found;
  }
  const bool are_packed = fabric.network.ranks.size() <= scale::kMostRanksPacked;
  Ratio before(21, 20);  // the most uneven, where trees are those of equal shares
  for (auto chunks = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(ranks)));
       chunks <= kFinest * ranks; chunks *= 2) {
    const std::int64_t largest = (chunks - 1) / ranks + 1;
    const Ratio uneven(largest * ranks, chunks);
    if (!are_packed && uneven >= before) continue;
    before = uneven;
    auto unequal = with_shares(equal, spread(chunks, ranks), fabric, options);
    if (!unequal) break;
    const bool is_asked = !are_packed || found.empty();
    if (is_asked || unequal->forest.algbw >= found.back().forest.algbw * kGainOfUnequalShares) {
      found.push_back(*std::move(unequal));
    }
  }
  return found;
}

}  // namespace choose

namespace {

// In parts of links that share limits trees may reach less than they do on all of them.
void let_reach(Synthesis& synthesis, const Fabric& fabric) {
  Ratio& optimum = synthesis.forest.optimum;
  optimum = std::max(optimum, fabric.reached_on_whole.value_or(optimum));
  const auto on_all = congestion_algbw(synthesis.forest, fabric.links());
  if (!on_all || *on_all <= synthesis.forest.algbw) return;
  synthesis.forest.algbw = *on_all;
  optimum = std::max(optimum, *on_all);
  synthesis.allowed = std::max(synthesis.allowed, *on_all);
}

Expected<ChosenForest> choose_within_parts(const Fabric& fabric, const CompileOptions& given) {
  const auto settled = choose::settle(fabric, given);
  if (!settled) return settled.errors();
  const CompileOptions& options = *settled;
  if (options.tree_count != TreeCount::chosen) return choose_as_asked(fabric, options);
  auto best = synthesize(fabric.network, options.synthesis);
  if (!best) return best.errors();
  if (best->stopped) return fit_threadblocks(*std::move(best), fabric, options).chosen;
  std::vector<FittedForest> found = by_rate(*std::move(best), fabric, options);
  if (options.format != Format::msccl && !is_timed_as_plan(fabric, options)) {
    return choose_by_rate(std::move(found));
  }
  const Synthesis& highest = found.back().chosen.synthesis;
  std::vector<FittedForest> even;
  for (Synthesis& each : choose::of_unequal_shares(highest, fabric, options)) {
    take_bounds_of(highest, each);
    even.push_back(fit_threadblocks(std::move(each), fabric, options));
  }
  if (auto chosen = choose_by_model(std::move(even), fabric, options)) return *std::move(chosen);
  add_as_written(found, fabric, options);
  add_optimum(found, fabric, options);
  if (std::ranges::none_of(found, &FittedForest::fits)) return choose_by_rate(std::move(found));
  return *choose_by_model(std::move(found), fabric, options);
}

}  // namespace

Expected<ChosenForest> choose::choose_trees(const Fabric& fabric, const CompileOptions& options) {
  auto chosen = choose_within_parts(fabric, options);
  if (chosen && fabric.whole) let_reach(chosen->synthesis, fabric);
  return chosen;
}

}  // namespace forestcoll
