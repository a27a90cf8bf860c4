#include "solver/portfolio/pack_at_once.hpp"

#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "forestcoll/congestion.hpp"
#include "forestcoll/pack.hpp"
#include "solver/common/few_ranks.hpp"
#include "solver/common/rounded_shares.hpp"
#include "solver/portfolio/best_forest.hpp"
#include "solver/portfolio/kept_trees.hpp"
#include "solver/portfolio/numbers_of_trees.hpp"

namespace forestcoll::solver {
namespace {

// Of what there may be, where more is not worth higher trees.
constexpr double kEnough = 0.99;

// What was given up for lower trees was reached.
bool is_enough(const Synthesis& packed, const Ratio& most) {
  const Ratio& reached = packed.given_up ? packed.given_up->algbw : packed.forest.algbw;
  return share(reached, most) >= kEnough;
}

Expected<Synthesis> pack_with_shares(const Problem& in_turn, const AllreduceDivision& parts,
                                     const Weights& shares, const SynthesizeOptions& options,
                                     Synthesis begun) {
  const Problem problem(in_turn.network, shares, parts.broadcast, parts.reduce,
                        options.packing.stop);
  if (const auto done = refuse_open_rate(problem); !done) return done.errors();
  if (!parts.as_owned) begun.forest.weight = shares;
  return choose_and_pack(problem, options, std::move(begun));
}

// Roots with other shares than the ranks own cannot have k trees each: as many trees in all.
Expected<Synthesis> pack_with_rounded_shares(const Problem& in_turn, const AllreduceDivision& parts,
                                             const SynthesizeOptions& options,
                                             const Synthesis& begun) {
  std::optional<Expected<Synthesis>> best;
  std::vector<RateAtK> rows;
  const std::int64_t data = std::accumulate(in_turn.weights.begin(), in_turn.weights.end(), 0LL);
  for (const std::int64_t k_asked :
       numbers_asked_for(options.trees_per_root, in_turn.weights.size())) {
    Weights shares = rounded_shares(parts.shares, k_asked * data);
    const std::int64_t k = take_common_factor(shares);
    SynthesizeOptions fixed = options;
    fixed.trees_per_root = {TreesPerRoot::Mode::fixed, k};
    auto found = pack_with_shares(in_turn, parts, shares, fixed, begun);
    const bool stopped = !found || found->stopped;
    if (found && options.trees_per_root.mode != TreesPerRoot::Mode::fixed) {
      rows.push_back({k_asked, found->forest.algbw});
    }
    if (!best || (found && (!*best || is_preferred(found->forest, (*best)->forest,
                                                   options.trees_per_root.mode)))) {
      best = std::move(found);
    }
    if (stopped) break;
  }
  if (*best) (*best)->tradeoff = std::move(rows);
  return *std::move(best);
}

Expected<Synthesis> pack_division(const Problem& in_turn, const AllreduceDivision& parts,
                                  const SynthesizeOptions& options, const Synthesis& begun) {
  if (parts.as_owned || options.trees_per_root.mode == TreesPerRoot::Mode::optimal) {
    return pack_with_shares(in_turn, parts, parts.shares, options, begun);
  }
  return pack_with_rounded_shares(in_turn, parts, options, begun);
}

// Of the highest rate that is known.
Expected<Synthesis> pack_best(const Problem& in_turn, const AllreduceParts& parts,
                              const SynthesizeOptions& options, const Synthesis& begun) {
  auto best = pack_division(in_turn, parts.best, options, begun);
  if (!parts.vertex || (best && best->stopped)) return best;
  auto other = pack_division(in_turn, *parts.vertex, options, begun);
  if (!best) return other;
  if (!other) return best;
  const double seconds = best->seconds.pack + other->seconds.pack;
  if (is_preferred(other->forest, best->forest, options.trees_per_root.mode))
    best = std::move(other);
  best->seconds.pack = seconds;
  return best;
}

// What the cuts of a division allow as many trees as are asked for; nothing where roots have shares
// that are rounded for them.
std::optional<Ratio> most_of(const Problem& in_turn, const AllreduceDivision& parts,
                             const SynthesizeOptions& options) {
  if (!parts.as_owned) return std::nullopt;
  const Problem problem(in_turn.network, parts.shares, parts.broadcast, parts.reduce,
                        options.packing.stop);
  const auto chosen = choose_scale(problem.phases, options.trees_per_root, options.packing.stop);
  return chosen ? std::optional(chosen->algbw) : std::nullopt;
}

// What is divided evenly packs low. The best division is packed, too, where so many trees
// may gain more by it than higher trees cost, where they reach the optimum on it, and where few
// ranks cost nothing.
Expected<Synthesis> pack_at_once(const Problem& in_turn, const AllreduceParts& parts,
                                 const SynthesizeOptions& options, const Synthesis& begun) {
  const auto mode = options.trees_per_root.mode;
  if (!parts.even || mode == TreesPerRoot::Mode::optimal) {
    return pack_best(in_turn, parts, options, begun);
  }
  auto even = pack_division(in_turn, *parts.even, options, begun);
  if (even && even->stopped) return even;
  if (even && in_turn.network.ranks.size() > kFewRanks) {
    const auto most = most_of(in_turn, parts.best, options);
    const bool is_reached = most && *most == parts.best.algbw;
    const bool may_gain = !is_enough(*even, parts.upper) && (!most || !is_enough(*even, *most));
    if (!is_reached && !may_gain) return even;
  }
  auto best = pack_best(in_turn, parts, options, begun);
  if (!best || (even && !is_preferred(best->forest, even->forest, mode))) return even ? even : best;
  return best;
}

// The previous trees that stay, a part of all.
Ratio kept(const Synthesis& synthesis) {
  const auto& repack = synthesis.repack;
  return repack && repack->previous > 0 ? Ratio(repack->kept, repack->previous) : Ratio(0);
}

// The slower one, or of equals the one that keeps less.
bool is_worse(const Synthesis& a, const Synthesis& b) {
  return std::pair(a.forest.algbw, kept(a)) < std::pair(b.forest.algbw, kept(b));
}

}  // namespace

Expected<Synthesis> pack_both_ways(const Problem& in_turn, const AllreduceParts& parts,
                                   const SynthesizeOptions& options, Synthesis begun) {
  const Ratio two_phases = std::exchange(begun.forest.optimum, parts.upper);
  begun.two_phases = two_phases;
  auto at_once = pack_at_once(in_turn, parts, options, begun);
  if (at_once && options.previous != nullptr) {
    // A part has not all links of the fabric: what it lacks is no failure.
    at_once->repack = kept_trees(*options.previous, at_once->forest, in_turn.network);
  }
  const bool done = at_once && !at_once->stopped;
  if (done && two_phases <= at_once->forest.algbw && options.previous == nullptr) return at_once;
  auto other = choose_and_pack(in_turn, options, std::move(begun));
  if (!other) return at_once ? std::move(at_once) : std::move(other);
  // Its phases can overlap as well.
  const auto overlapped = congestion_algbw(other->forest, in_turn.network);
  if (overlapped && other->forest.algbw < *overlapped) other->forest.algbw = *overlapped;
  if (at_once && is_worse(*other, *at_once)) return at_once;
  other->stopped |= at_once && at_once->stopped;
  return other;
}

}  // namespace forestcoll::solver
