#include "solver/portfolio/beside_less.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

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

  // False where there is none, as where trees cannot be so low.
  bool add(const SynthesizeOptions& options) {
    auto found = attempt_(options);
    if (!found) return false;
    const bool stopped = best_.stopped || found->stopped;
    if (is_better(found->forest, best_.forest)) best_ = *std::move(found);
    best_.stopped = stopped;
    return true;
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
  auto first = attempt(asked);
  if (!first || first->stopped || !options.beside_less || options.previous != nullptr ||
      network.ranks.size() > kMostRanksOfAttempts) {
    return first;
  }
  Attempts attempts(attempt, *std::move(first));
  attempts.add_lower(asked);
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
