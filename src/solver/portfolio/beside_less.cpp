#include "solver/portfolio/beside_less.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "solver/pack/known_packings.hpp"
#include "solver/portfolio/best_forest.hpp"
#include "solver/portfolio/numbers_of_trees.hpp"

namespace forestcoll::solver {
namespace {

// Ranks up to which an attempt takes a second or so.
constexpr std::size_t kMostRanksOfAttempts = 40;

// Numbers of trees that are tried beside the optimum's: as many as by default, and small ones.
constexpr std::int64_t kMostPowers = 16;
constexpr std::int64_t kMostOfAll = 16;

std::vector<TreesPerRoot> fewer_numbers(const SynthesizeOptions& options) {
  using Mode = TreesPerRoot::Mode;
  if (!is_any_number_open(options)) return {};
  return {{Mode::power_of_two, kMostPowers}, {Mode::best_up_to, kMostOfAll}};
}

// Trees of fewer, each so many times over.
Synthesis times_over(Synthesis fewer, std::int64_t times) {
  fewer.forest.k *= times;
  for (auto* phase : {&fewer.forest.reduce, &fewer.forest.broadcast}) {
    if (*phase) *phase = (*phase)->scaled(times);
  }
  for (auto* raise : {&fewer.reduce_raise, &fewer.broadcast_raise}) {
    if (!*raise) continue;
    for (Ratio* scale : {&(*raise)->asked, &(*raise)->reached}) {
      *scale = checked_mul(*scale, Ratio(times)).value_or(*scale);
    }
  }
  return fewer;
}

// One phase has copies of fewer trees wherever more are not as fast. Both at once have shares of
// the roots that are rounded to the number of trees: more are not always nearer to the best.
bool has_rounded_shares(const SynthesizeOptions& options) {
  return options.trees_per_root.mode == TreesPerRoot::Mode::fixed && options.at_once &&
         options.collective == Collective::allreduce;
}

/// Attempts one after the other, and the best of them.
class Attempts {
 public:
  Attempts(const Attempt& attempt, Synthesis first) : attempt_(attempt), best_(std::move(first)) {}

  // Of these options, where they have a limit on the height, and of all lower ones.
  void add_lower(SynthesizeOptions options) {
    while (may_gain() && options.max_height && --*options.max_height >= 1) {
      if (is_at_optimum()) *options.max_height = std::min(*options.max_height, height() - 1);
      if (!add(options)) return;
    }
  }

  // False where there is none, as where trees cannot be so low, or so low and as fast.
  bool add(const SynthesizeOptions& options) {
    const Ratio least = best_.forest.algbw;
    auto found = attempt_(options, least);
    if (!found) return false;
    const bool stopped = best_.stopped || found->stopped;
    const bool is_as_fast = found->forest.algbw >= least;
    if (is_better(found->forest, best_.forest)) best_ = *std::move(found);
    best_.stopped = stopped;
    return is_as_fast;
  }

  // Of all numbers that divide the one of these options: copies of their trees are as many. Of low
  // trees these were searched for, and what is left is how shares are rounded.
  void add_divisors(SynthesizeOptions options) {
    if (options.max_height) options.packing.effort = Effort::fast;
    const std::int64_t k = options.trees_per_root.value;
    for (std::int64_t times = 2; times <= k; ++times) {
      if (k % times != 0) continue;
      if (best_.stopped || is_at_optimum()) return;
      options.trees_per_root.value = k / times;
      auto found = attempt_(options, best_.forest.algbw);
      if (!found) continue;
      best_.stopped |= found->stopped;
      if (found->forest.algbw <= best_.forest.algbw) continue;
      found->allowed = std::max(found->allowed, best_.allowed);
      found->stopped = best_.stopped;
      best_ = times_over(*std::move(found), times);
    }
  }

  // Is there a forest that may be faster or, of that rate, lower?
  [[nodiscard]] bool may_gain() const {
    return !best_.stopped && !(is_at_optimum() && height() <= best_.least_height);
  }

  [[nodiscard]] bool is_at_optimum() const { return best_.forest.algbw == best_.forest.optimum; }

  Synthesis take() { return std::move(best_); }

 private:
  [[nodiscard]] std::int32_t height() const { return height_of(best_.forest); }

  const Attempt& attempt_;
  Synthesis best_;
};

}  // namespace

Expected<Synthesis> best_beside_less(const Network& network, const SynthesizeOptions& options,
                                     const Attempt& attempt) {
  SynthesizeOptions asked = options;
  // No tree of so many ranks is higher.
  const auto most = static_cast<std::int32_t>(network.ranks.size()) - 1;
  if (asked.max_height) asked.max_height = std::min(*asked.max_height, std::max(most, 1));
  if (!asked.packing.known) asked.packing.known = std::make_shared<KnownPackings>();
  auto first = attempt(asked, Ratio(0));
  if (!first || first->stopped || !options.beside_less || options.previous != nullptr ||
      network.ranks.size() > kMostRanksOfAttempts) {
    return first;
  }
  asked.packing.effort = std::min(asked.packing.effort, Effort::normal);
  Attempts attempts(attempt, *std::move(first));
  attempts.add_lower(asked);
  if (has_rounded_shares(options)) attempts.add_divisors(asked);
  for (const TreesPerRoot& fewer : fewer_numbers(options)) {
    if (!attempts.may_gain()) break;
    // Those were among what the optimum was compared with (`other_numbers`).
    if (attempts.is_at_optimum() && fewer.mode == TreesPerRoot::Mode::best_up_to) continue;
    asked.trees_per_root = fewer;
    if (attempts.add(asked)) attempts.add_lower(asked);
  }
  return attempts.take();
}

}  // namespace forestcoll::solver
