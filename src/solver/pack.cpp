// From scaled capacities to a forest: contract, balance, pack, and raise U where the floors of a
// fixed k left no room.
#include "forestcoll/pack.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "solver/balance.hpp"
#include "solver/core.hpp"
#include "solver/forest_scale.hpp"
#include "solver/pack_trees.hpp"
#include "solver/scale.hpp"
#include "solver/symmetry.hpp"

namespace forestcoll {
namespace {

// Floors that are tried one by one before the next whole scale, at which nothing is rounded.
constexpr int kRisesTried = 16;

Diagnostic too_large() {
  return {.code = "E14",
          .kind = ErrorKind::limit,
          .message = "the trees of this fabric need numbers too large for exact arithmetic (2^62)",
          .remedy =
              "make the bandwidths of both sides of each switch equal, or round them with "
              "--quantize"};
}

Diagnostic stopped() {
  return {.code = "R01",
          .kind = ErrorKind::limit,
          .message = "asked to stop before all trees were packed"};
}

bool fits(const Network& network, const Ratio& scale) {
  const Int128 sum =
      std::accumulate(network.capacity.begin(), network.capacity.end(), std::int64_t{0});
  return sum * scale.num() / scale.den() < Int128{1} << 61;
}

// First the least steps, at which a floor rises; then a whole scale, at which nothing is rounded;
// and then, for switches that are unbalanced by themselves, a quarter more each time.
Ratio next_scale_tried(const Network& network, const Ratio& scale, int rises) {
  if (rises <= kRisesTried) return *solver::next_scale(network, scale);
  const std::int64_t whole = scale.num() / scale.den() + 1;
  return Ratio(rises == kRisesTried + 1 ? whole : whole + whole / 4);
}

// How far it is from one of the roots.
std::int32_t distance_from_one(const Network& network, const Weights& weights) {
  const auto root = std::find_if(weights.begin(), weights.end(), [](auto w) { return w > 0; });
  return height_lower_bound(
      network, single_root(network, Rank(static_cast<std::size_t>(root - weights.begin()))));
}

/// Packs one network at one scale after the other.
class Attempts {
 public:
  Attempts(const Attempts&) = delete;
  Attempts& operator=(const Attempts&) = delete;
  Attempts(const Network& network, const Weights& weights, const Scaling& scaling,
           const PackOptions& options)
      : network_(network),
        options_(options),
        owed_(weights),
        least_height_{std::max(distance_from_one(network, weights), options.enough_height),
                      [this, &network, &weights, &scaling] {
                        if (!exact_height_) {
                          exact_height_ = std::max(height_lower_bound(network, weights, scaling),
                                                   options_.enough_height);
                        }
                        return *exact_height_;
                      }} {
    for (auto& trees : owed_) trees *= scaling.k;
    if (options.symmetry) groups_ = solver::find_symmetries(network, weights);
  }

  // With the capacities as they are. The theorem speaks about balanced switches: where others are,
  // the roots are tried in another order as well, and then with switches trimmed to balance.
  std::optional<solver::PackedTrees> pack_at(const IdVector<ArcId, Capacity>& capacity) {
    using solver::RootOrder;
    solver::Core core = solver::make_core(network_, capacity);
    if (auto packed = pack_core(core, groups_, RootOrder::ascending)) return packed;
    if (solver::is_balanced(core.graph, core.capacity, core.rank_of)) return std::nullopt;
    if (auto packed = pack_core(core, {}, RootOrder::descending)) return packed;
    if (is_stopped() ||
        !solver::balance_switches(core.graph, core.capacity, core.rank_of, core.compute, owed_)) {
      return std::nullopt;
    }
    return pack_core(core, {}, RootOrder::ascending);
  }

  [[nodiscard]] bool is_stopped() const { return options_.stop.stop_requested(); }
  // The bound at the scaling that was asked for, if anybody wanted to know.
  [[nodiscard]] std::optional<std::int32_t> exact_height() const {
    return options_.enough_height > 1 ? std::nullopt : exact_height_;
  }

 private:
  std::optional<solver::PackedTrees> pack_core(const solver::Core& core,
                                               std::span<const Symmetry> groups,
                                               solver::RootOrder order) {
    if (is_stopped()) return std::nullopt;
    return solver::pack_trees(core, groups, owed_, order, least_height_, options_);
  }

  const Network& network_;
  const PackOptions& options_;
  Weights owed_;
  std::optional<std::int32_t> exact_height_;
  solver::LeastHeight least_height_;
  std::vector<Symmetry> groups_;
};

}  // namespace

Expected<Packing> pack(const Network& network, const Weights& weights, const Scaling& scaling,
                       const PackOptions& options) {
  Attempts attempts(network, weights, scaling, options);
  if (auto packed = attempts.pack_at(scaling.capacity)) {
    return Packing{std::move(packed->forest), scaling, packed->statistics, attempts.exact_height()};
  }
  const bool balanced = solver::is_balanced(network.graph, network.capacity, network.rank_of);
  Ratio scale = scaling.scale;
  for (int rises = 1;; ++rises) {
    if (attempts.is_stopped()) return stopped();
    FORESTCOLL_CHECK(!balanced || scale.den() != 1,
                     "a balanced fabric must pack where nothing is rounded");
    scale = next_scale_tried(network, scale, rises);
    if (!fits(network, scale)) return too_large();
    auto packed = attempts.pack_at(solver::floor_capacities(network, scale));
    if (!packed) continue;
    const Ratio reached = solver::forest_scale(network, packed->forest);
    return Packing{std::move(packed->forest),
                   {scaling.k, reached, solver::floor_capacities(network, reached)},
                   packed->statistics,
                   {}};
  }
}

}  // namespace forestcoll
