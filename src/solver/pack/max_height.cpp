// Lower trees at lower rates. More capacity per tree lets trees take the shortest ways, so for one
// k the search is over the scale: up in doubling steps until the trees are low enough, then down
// again by halves. How high trees come out is a matter of luck: with other numbers of trees, with
// less effort or where lower ones were asked for, trees may be low at a higher rate. So whatever
// one of these searches finds is kept for all, and each ends where it cannot beat what is known.
#include "solver/pack/max_height.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "forestcoll/codes.hpp"
#include "solver/common/few_ranks.hpp"
#include "solver/common/forest_scale.hpp"
#include "solver/rate/choose_scale.hpp"
#include "solver/rate/scale.hpp"

namespace forestcoll {
namespace {

// The finest step of the search: a fraction of the scale asked for.
constexpr std::int64_t kSteps = 16;

// At this many times the scale the search ends; capacity is no longer what makes trees high.
constexpr std::int64_t kMostTimes = std::int64_t{1} << 20;

Diagnostic impossible(std::int32_t max_height, std::int32_t least) {
  return make_error("E16",
                    "no tree of height " + std::to_string(max_height) +
                        " reaches all ranks: the farthest is " + std::to_string(least) +
                        " hops away",
                    "allow a height of " + std::to_string(least) + " or more");
}

Diagnostic beyond_arithmetic(std::int32_t max_height) {
  return make_error("E14",
                    "trees of height " + std::to_string(max_height) +
                        " need numbers too large for exact arithmetic (2^62)",
                    "allow higher trees, or fewer trees per root with -k");
}

bool is_faster(const Scaling& a, const Scaling& b) {
  return solver::is_faster({a.scale, a.k}, {b.scale, b.k});
}

/// All forests found so far that no other one beats in both height and rate.
class Known {
 public:
  void offer(Packing packing) {
    const auto replaces_it = [&](const Packing& other) { return replaces(other, packing); };
    if (std::any_of(packings_.begin(), packings_.end(), replaces_it)) return;
    std::erase_if(packings_, [&](const Packing& other) { return replaces(packing, other); });
    packings_.push_back(std::move(packing));
  }

  void take_over(Known others) {
    for (Packing& packing : others.packings_) offer(std::move(packing));
  }

  // The fastest, and of these the lowest; nothing where all are higher.
  [[nodiscard]] const Packing* best_within(std::int32_t height) const {
    const Packing* best = nullptr;
    for (const Packing& packing : packings_) {
      if (packing.forest.max_height() > height) continue;
      if (best == nullptr || is_faster(packing.scaling, best->scaling)) best = &packing;
    }
    return best;
  }

  // That one itself, which is known no longer.
  std::optional<Packing> take_within(std::int32_t height) {
    const Packing* best = best_within(height);
    if (best == nullptr) return std::nullopt;
    return std::move(packings_[static_cast<std::size_t>(best - packings_.data())]);
  }

  // The highest first.
  [[nodiscard]] std::vector<HeightAtRate> rows() const {
    std::vector<HeightAtRate> result;
    for (const Packing& packing : packings_) {
      result.push_back({packing.forest.max_height(), packing.forest.mean_height(),
                        packing.scaling.k, packing.scaling.scale});
    }
    std::sort(result.begin(), result.end(),
              [](const auto& a, const auto& b) { return b.height < a.height; });
    return result;
  }

 private:
  // At least as fast and as low, and of no more trees where it is neither faster nor lower. One
  // that is faster and higher replaces none, and is replaced by none.
  static bool replaces(const Packing& a, const Packing& b) {
    if (is_faster(b.scaling, a.scaling)) return false;
    const auto size = [](const Packing& each) {
      return std::tuple(each.forest.max_height(), each.forest.tree_count());
    };
    if (is_faster(a.scaling, b.scaling)) return a.forest.max_height() <= b.forest.max_height();
    return size(a) <= size(b);
  }

  std::vector<Packing> packings_;
};

/// The search for one k, height and effort. What it finds goes to `known`; it is for forests that
/// beat those of at most `rival_height` there.
class ScaleSearch {
 public:
  ScaleSearch(const Network& network, const Weights& weights, const Scaling& scaling,
              const PackOptions& options, std::int32_t rival_height, Known& known)
      : network_(network),
        weights_(weights),
        scaling_(scaling),
        options_(options),
        rival_height_(rival_height),
        known_(known) {}

  Expected<void> run() {
    const bool is_small = network_.ranks.size() <= solver::kFewRanks;
    return rival() == nullptr || is_small ? search_upwards() : search_below_rival();
  }

 private:
  // Doubling steps until the trees are low enough.
  Expected<void> search_upwards() {
    std::int64_t fails = -1;
    std::int64_t works = 0;
    while (true) {
      auto enough = is_enough(works);
      if (!enough) return enough.errors();
      if (*enough) return search_between(fails, works);
      fails = works;
      works = std::max<std::int64_t>(1, 2 * works);
    }
  }

  // Where the most capacity that could still win is not enough, less is taken not to be either.
  Expected<void> search_below_rival() {
    std::int64_t most = -1;
    for (std::int64_t step = kSteps * kMostTimes / 2; step > 0; step /= 2) {
      if (may_win(most + step)) most += step;
    }
    if (most < 0) return {};
    auto enough = is_enough(most);
    if (!enough) return enough.errors();
    return *enough ? search_between(-1, most) : Expected<void>();
  }

  Expected<void> search_between(std::int64_t fails, std::int64_t works) {
    while (works - fails > 1) {
      const std::int64_t middle = fails + (works - fails) / 2;
      auto enough = is_enough(middle);
      if (!enough) return enough.errors();
      (*enough ? works : fails) = middle;
    }
    return {};
  }

  [[nodiscard]] const Packing* rival() const { return known_.best_within(rival_height_); }

  [[nodiscard]] std::optional<Ratio> scale_at(std::int64_t steps) const {
    return checked_mul(scaling_.scale, Ratio(kSteps + steps, kSteps));
  }

  [[nodiscard]] bool may_win(std::int64_t steps) const {
    const auto scale = scale_at(steps);
    return scale &&
           solver::is_faster({*scale, scaling_.k}, {rival()->scaling.scale, rival()->scaling.k});
  }

  // At `steps` steps above the scale asked for: no more is needed, as there are trees that are low
  // enough, or as they would be no better than what is known.
  Expected<bool> is_enough(std::int64_t steps) {
    const auto scale = scale_at(steps);
    if (!scale || steps > kSteps * kMostTimes || !fits(*scale)) {
      return beyond_arithmetic(options_.enough_height);
    }
    if (rival() != nullptr && !may_win(steps)) return true;
    Scaling here{scaling_.k, *scale, solver::floor_capacities(network_, *scale)};
    if (here.capacity == too_tight_ ||
        height_lower_bound(network_, weights_, here) > options_.enough_height) {
      return false;
    }
    auto packing = pack(network_, weights_, steps == 0 ? scaling_ : here, options_);
    if (!packing) return packing.errors();
    if (packing->forest.max_height() > options_.enough_height) {
      too_tight_ = std::move(here.capacity);
      return false;
    }
    if (steps > 0) {
      // The forest may not need all that it was given.
      const Ratio needed = solver::forest_scale(network_, packing->forest);
      packing->scaling = {scaling_.k, needed, solver::floor_capacities(network_, needed)};
    }
    known_.offer(*std::move(packing));
    return true;
  }

  [[nodiscard]] bool fits(const Ratio& scale) const {
    Int128 sum = 0;
    for (const Capacity capacity : network_.capacity) sum += capacity;
    return sum * scale.num() < Int128{1} << 61 && sum * scale.den() < Int128{1} << 61;
  }

  const Network& network_;
  const Weights& weights_;
  const Scaling& scaling_;
  const PackOptions& options_;
  const std::int32_t rival_height_;
  Known& known_;
  IdVector<ArcId, Capacity> too_tight_;  ///< the widest that left trees too high
};

/// All searches on one fabric, and what they found.
class LowForests {
 public:
  LowForests(const Network& network, const Weights& weights, const Scaling& scaling,
             const PackOptions& options, std::span<const Scaling> others)
      : network_(network),
        weights_(weights),
        options_(options),
        least_(height_lower_bound(network, weights)),
        fastest_(others.begin(), others.end()) {
    fastest_.insert(fastest_.begin(), scaling);
    std::stable_sort(fastest_.begin(), fastest_.end(), is_faster);
  }

  [[nodiscard]] std::int32_t least() const { return least_; }
  [[nodiscard]] Known& known() { return known_; }
  [[nodiscard]] bool is_small() const { return network_.ranks.size() <= solver::kFewRanks; }

  // Forests as `pack` finds them, whatever their height, where they may beat those that are no
  // higher than that.
  Expected<void> find_any(std::int32_t rival_height) {
    Expected<void> failure;
    for (const Scaling& scaling : fastest_) {
      if (!may_win(scaling, rival_height)) break;
      auto packing = pack(network_, weights_, scaling, options_);
      if (packing) {
        known_.offer(*std::move(packing));
        continue;
      }
      failure = packing.errors();
      if (was_stopped(failure.errors())) return failure;
    }
    if (known_.best_within(rival_height) != nullptr) return {};
    return failure;
  }

  // Forests no higher than `height` that beat all that are known up to `rival_height`. An error
  // where it was stopped, or where nothing is known that low.
  Expected<void> find_low(std::int32_t height, std::int32_t rival_height) {
    Expected<void> failure;
    PackOptions options = options_;
    options.enough_height = height;
    for (const Effort effort : {Effort::fast, Effort::normal, Effort::max}) {
      if (effort > options_.effort || (effort < options_.effort && !is_small())) continue;
      options.effort = effort;
      // With little effort a search of each number alone costs next to nothing.
      const bool is_thorough =
          network_.ranks.size() <= solver::kThoroughRanks || (is_small() && effort == Effort::fast);
      for (const Scaling& scaling : fastest_) {
        if (!may_win(scaling, rival_height)) break;
        Known own;
        Known& rivals = is_thorough ? own : known_;
        auto done = ScaleSearch(network_, weights_, scaling, options, rival_height, rivals).run();
        if (is_thorough) known_.take_over(std::move(own));
        if (was_stopped(done.errors())) return done;
        if (!done) failure = std::move(done);
      }
    }
    if (known_.best_within(rival_height) != nullptr) return {};
    return failure;
  }

 private:
  [[nodiscard]] bool may_win(const Scaling& scaling, std::int32_t rival_height) const {
    const Packing* rival = known_.best_within(rival_height);
    return rival == nullptr || is_faster(scaling, rival->scaling);
  }

  const Network& network_;
  const Weights& weights_;
  const PackOptions& options_;
  const std::int32_t least_;
  std::vector<Scaling> fastest_;
  Known known_;
};

}  // namespace

Expected<Packing> pack_within_height(const Network& network, const Weights& weights,
                                     const Scaling& scaling, std::int32_t max_height,
                                     const PackOptions& options, std::span<const Scaling> others) {
  LowForests forests(network, weights, scaling, options, others);
  if (max_height < forests.least()) return impossible(max_height, forests.least());
  auto done = forests.find_low(max_height, max_height);
  if (done && forests.is_small()) done = forests.find_any(max_height);
  for (std::int32_t height = max_height - 1;
       done && forests.is_small() && height >= forests.least(); --height) {
    done = forests.find_low(height, max_height);
  }
  if (auto best = forests.known().take_within(max_height)) return *std::move(best);
  return done.errors();
}

Expected<std::vector<HeightAtRate>> rate_against_height(const Network& network,
                                                        const Weights& weights,
                                                        const Scaling& scaling,
                                                        const PackOptions& options,
                                                        std::span<const Scaling> others) {
  LowForests forests(network, weights, scaling, options, others);
  constexpr std::int32_t kAnyHeight = std::numeric_limits<std::int32_t>::max();
  auto done = forests.find_any(kAnyHeight);
  const Packing* fastest = forests.known().best_within(kAnyHeight);
  if (fastest == nullptr) return done.errors();
  for (std::int32_t height = fastest->forest.max_height() - 1; done && height >= forests.least();
       --height) {
    done = forests.find_low(height, height);
    if (!done && !was_stopped(done.errors())) return done.errors();
    const Packing* found = forests.known().best_within(height);
    if (found != nullptr && !forests.is_small()) height = found->forest.max_height();
  }
  return forests.known().rows();
}

}  // namespace forestcoll
