// More capacity per tree lets trees take the shortest ways, so for one k the search is over the
// scale: up in doubling steps until the trees are low enough, then down again by halves.
#include "solver/pack/search/scale_search.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "forestcoll/codes.hpp"
#include "solver/common/few_ranks.hpp"
#include "solver/common/forest_scale.hpp"
#include "solver/pack/pack_so_far.hpp"
#include "solver/rate/scale.hpp"

namespace forestcoll::solver {
namespace {

// The finest step of the search: a fraction of the scale asked for.
constexpr std::int64_t kSteps = 16;

// Where what is found is squeezed afterwards, it need not be found to such a step, but to a part of
// the steps.
constexpr std::int64_t kPart = 8;

// At this many times the scale the search ends; capacity is no longer what makes trees high.
constexpr std::int64_t kMostTimes = std::int64_t{1} << 20;

Diagnostic beyond_arithmetic(std::int32_t max_height) {
  return make_error(Code::E14,
                    "trees of height " + std::to_string(max_height) +
                        " need numbers too large for exact arithmetic (2^62)",
                    "allow higher trees, or fewer trees per root with `k`");
}

}  // namespace

Expected<void> ScaleSearch::run() {
  return has_rivals() ? search_below_rivals() : search_upwards();
}

Expected<void> ScaleSearch::run_at_first_steps(std::int64_t first) {
  for (std::int64_t steps = first; steps <= 1; ++steps) {
    const auto enough = is_enough(steps);
    if (!enough) return enough.errors();
    if (*enough) break;
  }
  return {};
}

Expected<void> ScaleSearch::run_at_most() {
  const std::int64_t most = most_steps();
  const auto enough = most < 0 ? Expected<bool>(false) : is_enough(most);
  if (!enough) return enough.errors();
  return {};
}

std::int64_t ScaleSearch::most_steps() const {
  std::int64_t most = -1;
  for (std::int64_t step = kSteps * kMostTimes / 2; step > 0; step /= 2) {
    if (may_win(most + step)) most += step;
  }
  return most;
}

// Doubling steps until the trees are low enough.
Expected<void> ScaleSearch::search_upwards() {
  std::int64_t fails = -1;
  std::int64_t works = 0;
  while (true) {
    const auto enough = is_enough(works);
    if (!enough) return enough.errors();
    if (*enough) return search_between(fails, works);
    fails = works;
    works = std::max<std::int64_t>(1, 2 * works);
  }
}

// Where the most capacity that could still win is not enough, less is taken not to be either.
Expected<void> ScaleSearch::search_below_rivals() {
  const std::int64_t most = most_steps();
  if (most < 0) return {};
  const auto enough = is_enough(most);
  if (!enough) return enough.errors();
  return *enough ? search_between(-1, most) : Expected<void>();
}

Expected<void> ScaleSearch::search_between(std::int64_t fails, std::int64_t works) {
  const bool is_squeezed = network_.ranks.size() <= kFewRanks;
  while (works - fails > std::max<std::int64_t>(1, is_squeezed ? works / kPart : 1)) {
    const std::int64_t middle = fails + (works - fails) / 2;
    const auto enough = is_enough(middle);
    if (!enough) return enough.errors();
    (*enough ? works : fails) = middle;
  }
  return {};
}

std::optional<Ratio> ScaleSearch::scale_at(std::int64_t steps) const {
  return checked_mul(scaling_.scale, Ratio(kSteps + steps, kSteps));
}

bool ScaleSearch::may_win(std::int64_t steps) const {
  const auto scale = scale_at(steps);
  if (!scale) return false;
  const ScaleAndK here{*scale, scaling_.k};
  if (rivals_.most_scale && solver::is_faster({*rivals_.most_scale, 1}, here)) return false;
  const Packing* known = rival();
  return known == nullptr || solver::is_faster(here, {known->scaling.scale, known->scaling.k});
}

// At `steps` steps above the scale asked for: no more is needed, as there are trees that are low
// enough, or as they would be no better than what is known.
Expected<bool> ScaleSearch::is_enough(std::int64_t steps) {
  const auto scale = scale_at(steps);
  if (!scale || steps > kSteps * kMostTimes || !fits(*scale)) {
    return beyond_arithmetic(options_.enough_height);
  }
  if (has_rivals() && !may_win(steps)) return true;
  Scaling here{scaling_.k, *scale, solver::floor_capacities(network_, *scale)};
  if (here.capacity == too_tight_ ||
      height_lower_bound(network_, weights_, here) > options_.enough_height) {
    return false;
  }
  auto found = pack_so_far(network_, weights_, steps == 0 ? scaling_ : here, options_,
                           IfStopped::give_up, {.most = options_.enough_height});
  if (!found) return found.errors();
  Packing& packing = found->packing;
  if (packing.forest.max_height() > options_.enough_height) {
    too_tight_ = std::move(here.capacity);
    return false;
  }
  if (steps > 0) {
    // The forest may not need all that it was given.
    const Ratio needed = solver::forest_scale(network_, packing.forest);
    packing.scaling = {scaling_.k, needed, solver::floor_capacities(network_, needed)};
  }
  known_.offer(std::move(packing));
  return true;
}

bool ScaleSearch::fits(const Ratio& scale) const {
  Int128 sum = 0;
  for (const Capacity capacity : network_.capacity) sum += capacity;
  return sum * scale.num() < Int128{1} << 61 && sum * scale.den() < Int128{1} << 61;
}

}  // namespace forestcoll::solver
