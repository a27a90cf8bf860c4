// Lower trees at lower rates. More capacity per tree lets trees take the shortest ways, so the
// search is over the scale: up in doubling steps until the trees are low enough, then down again
// by halves. Fewer trees per root may be lower at a higher rate than that leaves.
#include "forestcoll/max_height.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

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
  return {.code = "E16",
          .message = "no tree of height " + std::to_string(max_height) +
                     " reaches all ranks: the farthest is " + std::to_string(least) + " hops away",
          .remedy = "allow a height of " + std::to_string(least) + " or more"};
}

class ScaleSearch {
 public:
  ScaleSearch(const Network& network, const Weights& weights, const Scaling& scaling,
              std::int32_t max_height, const PackOptions& options)
      : network_(network),
        weights_(weights),
        scaling_(scaling),
        max_height_(max_height),
        options_(options) {}

  Expected<Packing> run() {
    std::int64_t fails = 0;
    std::int64_t works = 1;
    while (true) {
      auto found = try_at(works);
      if (!found) return found.errors();
      if (*found) break;
      fails = works;
      works *= 2;
    }
    while (works - fails > 1) {
      const std::int64_t middle = fails + (works - fails) / 2;
      auto found = try_at(middle);
      if (!found) return found.errors();
      (*found ? works : fails) = middle;
    }
    return std::move(*best_);
  }

 private:
  // At `steps` steps above the scale asked for: was a forest found that is low enough?
  Expected<bool> try_at(std::int64_t steps) {
    const auto scale = checked_mul(scaling_.scale, Ratio(kSteps + steps, kSteps));
    if (!scale || steps > kSteps * kMostTimes || !fits(*scale)) {
      return Diagnostic{.code = "E14",
                        .kind = ErrorKind::limit,
                        .message = "trees of height " + std::to_string(max_height_) +
                                   " need numbers too large for exact arithmetic (2^62)",
                        .remedy = "allow higher trees, or fewer trees per root with -k"};
    }
    auto packing = pack(network_, weights_,
                        {scaling_.k, *scale, solver::floor_capacities(network_, *scale)}, options_);
    if (!packing) return packing.errors();
    if (packing->forest.max_height() > max_height_) return false;
    // The forest may not need all that it was given.
    const Ratio needed = solver::forest_scale(network_, packing->forest);
    packing->scaling = {scaling_.k, needed, solver::floor_capacities(network_, needed)};
    if (!best_ || needed < best_->scaling.scale) best_ = std::move(*packing);
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
  std::int32_t max_height_;
  const PackOptions& options_;
  std::optional<Packing> best_;
};

bool is_faster(const Scaling& a, const Scaling& b) {
  return solver::is_faster({a.scale, a.k}, {b.scale, b.k});
}

// At the scale that is asked for; nothing where the trees stay too high.
Expected<std::optional<Packing>> pack_low(const Network& network, const Weights& weights,
                                          const Scaling& scaling, const PackOptions& options) {
  auto packing = pack(network, weights, scaling, options);
  if (!packing) return packing.errors();
  if (packing->forest.max_height() > options.enough_height) return std::optional<Packing>();
  return std::optional(*std::move(packing));
}

}  // namespace

Expected<Packing> pack_within_height(const Network& network, const Weights& weights,
                                     const Scaling& scaling, std::int32_t max_height,
                                     const PackOptions& asked, std::span<const Scaling> others) {
  const std::int32_t least = height_lower_bound(network, weights);
  if (max_height < least) return impossible(max_height, least);
  PackOptions options = asked;
  options.enough_height = max_height;
  auto packing = pack_low(network, weights, scaling, options);
  if (!packing) return packing.errors();
  if (*packing) return **std::move(packing);
  auto best = ScaleSearch(network, weights, scaling, max_height, options).run();
  if (!best) return best;
  std::vector<Scaling> fastest(others.begin(), others.end());
  std::stable_sort(fastest.begin(), fastest.end(), is_faster);
  for (const Scaling& other : fastest) {
    if (!is_faster(other, best->scaling)) break;
    auto faster = pack_low(network, weights, other, options);
    if (!faster) return faster.errors();
    if (*faster && is_faster((*faster)->scaling, best->scaling)) best = **std::move(faster);
  }
  return best;
}

Expected<std::vector<HeightAtRate>> rate_against_height(const Network& network,
                                                        const Weights& weights,
                                                        const Scaling& scaling,
                                                        const PackOptions& options,
                                                        std::span<const Scaling> others) {
  const std::int32_t least = height_lower_bound(network, weights);
  std::vector<HeightAtRate> rows;
  auto packing = pack(network, weights, scaling, options);
  while (true) {
    if (!packing && was_stopped(packing.errors()) && !rows.empty()) return rows;
    if (!packing) return packing.errors();
    const HeightAtRate row{packing->forest.max_height(), packing->forest.mean_height(),
                           packing->scaling.k, packing->scaling.scale};
    // Lower and as fast: the previous row is worth nothing.
    while (!rows.empty() && !is_faster({rows.back().k, rows.back().scale, {}}, packing->scaling)) {
      rows.pop_back();
    }
    rows.push_back(row);
    if (row.height <= least) return rows;
    packing = pack_within_height(network, weights, scaling, row.height - 1, options, others);
  }
}

}  // namespace forestcoll
