// From scaled capacities to a forest: contract, balance, pack, and raise U where the floors of a
// fixed k left no room. A forest that asks for a little more than there is may be faster than the
// one that is packed at the next scale that does; and it is what there is where somebody asks to
// stop.
#include "forestcoll/pack.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "forestcoll/codes.hpp"
#include "solver/common/core.hpp"
#include "solver/common/forest_scale.hpp"
#include "solver/pack/known_packings.hpp"
#include "solver/pack/pack_so_far.hpp"
#include "solver/pack/pack_trees.hpp"
#include "solver/rate/balance.hpp"
#include "solver/rate/scale.hpp"
#include "solver/rate/trim.hpp"
#include "solver/symmetry/symmetry.hpp"

namespace forestcoll {
namespace {

// Floors that are tried one by one before the next whole scale, at which nothing is rounded.
constexpr int kRisesTried = 16;

// Programs larger than this are not solved for each of them.
constexpr TreeRateLimits kTrimLimits{.variables = 2'000, .rounds = 60};

Diagnostic too_large() {
  return make_error(Code::E14,
                    "the trees of this fabric need numbers too large for exact arithmetic (2^62)",
                    "make the bandwidths of both sides of each switch equal, or round them with "
                    "`quantize`");
}

Diagnostic stopped() {
  return make_error(Code::R01, "asked to stop before all trees were packed");
}

// First the least steps, at which a floor rises; then a whole scale, at which nothing is rounded;
// and then, for switches that are unbalanced by themselves, a quarter more each time.
Ratio next_scale_tried(const Network& network, const Ratio& scale, int rises) {
  if (rises <= kRisesTried) return *solver::next_scale(network, scale);
  const std::int64_t whole = scale.num() / scale.den() + 1;
  return Ratio(rises == kRisesTried + 1 ? whole : whole + whole / 4);
}

// All that the scale leaves of the fabric, and not a balanced part of it.
bool is_whole(const Network& network, const Scaling& scaling) {
  return scaling.capacity == solver::floor_capacities(network, scaling.scale);
}

// Floors are alike where capacities are; a balanced part of them need not be, and can be alike
// where the capacities are not. What moves trees keeps both: an arc's capacity stands for the pair.
std::vector<Symmetry> symmetries_of(const Network& network, const Weights& weights,
                                    const Scaling& scaling) {
  if (is_whole(network, scaling)) return solver::find_symmetries(network, weights);
  std::map<std::pair<Capacity, Capacity>, Capacity> kinds;
  const auto kind_of = [&](ArcId a) -> Capacity& {
    return kinds[{network.capacity[a], scaling.capacity[a]}];
  };
  for (std::size_t a = 0; a < network.capacity.size(); ++a) kind_of(ArcId(a));
  Capacity number = 0;
  for (auto& [pair, kind] : kinds) kind = ++number;
  Network both = network;
  for (std::size_t a = 0; a < network.capacity.size(); ++a)
    both.capacity[ArcId(a)] = kind_of(ArcId(a));
  return solver::find_symmetries(both, weights);
}

// How far it is from one of the roots.
std::int32_t distance_from_one(const Network& network, const Weights& weights) {
  const auto root = std::find_if(weights.begin(), weights.end(), [](auto w) { return w > 0; });
  return height_lower_bound(
      network, single_root(network, Rank(static_cast<std::size_t>(root - weights.begin()))));
}

// Trees above a height that somebody asked for are worth nothing.
solver::HeightSearch asked_of(const PackOptions& options, solver::HeightSearch search) {
  if (options.enough_height > 1) search.most = std::min(search.most, options.enough_height);
  return search;
}

/// Packs one network at one scale after the other.
class Attempts {
 public:
  Attempts(const Attempts&) = delete;
  Attempts& operator=(const Attempts&) = delete;
  Attempts(const Network& network, const Weights& weights, const Scaling& scaling,
           const PackOptions& options, solver::IfStopped if_stopped,
           const solver::HeightSearch& search)
      : network_(network),
        options_(options),
        if_stopped_(if_stopped),
        is_balanced_(solver::has_balanced_core(network)),
        owed_(weights),
        least_height_{std::max(distance_from_one(network, weights), options.enough_height),
                      [this, &network, &weights, &scaling] {
                        if (!exact_height_) {
                          exact_height_ =
                              std::max(height_lower_bound(network, weights, of_fabric(scaling)),
                                       options_.enough_height);
                        }
                        return *exact_height_;
                      },
                      asked_of(options, search)} {
    for (auto& trees : owed_) trees *= scaling.k;
    if (options.symmetry) groups_ = symmetries_of(network, weights, scaling);
    if (!groups_.empty() && solver::is_packed_by_parts(network.ranks.size())) {
      in_blocks_ = solver::in_blocks(network, groups_.front());
    }
  }

  // The theorem speaks about balanced switches. Where only rounding made others of them, capacities
  // nearly always do as they are; where the fabric itself has others, a failure to pack can be
  // long, and the trimmed part is known to be packed.
  std::optional<solver::PackedTrees> pack_at(const IdVector<ArcId, Capacity>& capacity) {
    const solver::Core core = solver::make_core(network_, capacity);
    if (solver::is_balanced(core)) return pack_core(core, groups());
    if (!is_balanced_) {
      const solver::Trimming trimming = trim(capacity);
      if (trimming.capacity) return pack_part(*trimming.capacity);
      return trimming.is_impossible ? std::nullopt : pack_core(core, groups());
    }
    if (auto packed = pack_core(core, groups())) return packed;
    const auto trimmed = trim(capacity).capacity;
    return trimmed ? pack_part(*trimmed) : std::nullopt;
  }

  // The fastest of the forests that needed more than they were given, and what it needs.
  [[nodiscard]] const std::optional<Ratio>& overfull_scale() const { return overfull_scale_; }
  solver::PackedTrees take_overfull() { return *std::move(overfull_); }

  // The fabric's floors at another scale need not be alike where a part of them was.
  void forget_symmetries() {
    groups_.clear();
    in_blocks_.clear();
  }

  // What any forest of that scale may take, and not only one within a balanced part.
  [[nodiscard]] Scaling of_fabric(const Scaling& scaling) const {
    return {scaling.k, scaling.scale, solver::floor_capacities(network_, scaling.scale)};
  }

  [[nodiscard]] bool is_stopped() const { return options_.stop.stop_requested(); }
  // The bound at the scaling that was asked for, if anybody wanted to know.
  [[nodiscard]] std::optional<std::int32_t> exact_height() const {
    return options_.enough_height > 1 ? std::nullopt : exact_height_;
  }

 private:
  [[nodiscard]] solver::Groups groups() const { return {groups_, in_blocks_}; }

  [[nodiscard]] solver::Trimming trim(const IdVector<ArcId, Capacity>& capacity) const {
    if (is_stopped()) return {};
    return solver::trim_to_balance(network_, capacity, owed_, kTrimLimits, options_.stop);
  }

  std::optional<solver::PackedTrees> pack_part(const IdVector<ArcId, Capacity>& capacity) {
    return pack_core(solver::make_core(network_, capacity), {});
  }

  std::optional<solver::PackedTrees> pack_core(const solver::Core& core,
                                               const solver::Groups& groups) {
    const bool may_finish = if_stopped_ == solver::IfStopped::finish_at_once && !overfull_scale_;
    if (is_stopped() && !may_finish) return std::nullopt;
    auto packed = solver::pack_trees(core, groups, owed_, least_height_, options_, if_stopped_);
    if (!packed || packed->fits()) return packed;
    const Ratio scale = solver::forest_scale(network_, packed->forest);
    if (!overfull_scale_ || scale < *overfull_scale_) {
      overfull_scale_ = scale;
      overfull_ = std::move(packed);
    }
    return std::nullopt;
  }

  const Network& network_;
  const PackOptions& options_;
  const solver::IfStopped if_stopped_;
  const bool is_balanced_;
  Weights owed_;
  std::optional<std::int32_t> exact_height_;
  solver::LeastHeight least_height_;
  std::vector<Symmetry> groups_;
  std::vector<Symmetry> in_blocks_;
  std::optional<Ratio> overfull_scale_;
  std::optional<solver::PackedTrees> overfull_;
};

// At the scale that the forest needs.
Packing packing_at(const Network& network, std::int64_t k, const Ratio& scale,
                   solver::PackedTrees packed) {
  return {std::move(packed.forest),
          {k, scale, solver::floor_capacities(network, scale)},
          packed.statistics,
          {}};
}

}  // namespace

namespace solver {
namespace {

KnownPackings::Question question_of(const Network& network, const Weights& weights,
                                    const Scaling& scaling, const PackOptions& options,
                                    const HeightSearch& search) {
  return {{network.graph.arcs().begin(), network.graph.arcs().end()},
          network.ranks,
          network.capacity,
          scaling.capacity,
          weights,
          scaling.k,
          scaling.scale,
          options.effort,
          options.enough_height,
          options.symmetry,
          search};
}

Expected<PackingSoFar> pack_anew(const Network& network, const Weights& weights,
                                 const Scaling& scaling, const PackOptions& options,
                                 IfStopped if_stopped, const HeightSearch& search) {
  Attempts attempts(network, weights, scaling, options, if_stopped, search);
  if (auto packed = attempts.pack_at(scaling.capacity)) {
    return PackingSoFar{{std::move(packed->forest), attempts.of_fabric(scaling), packed->statistics,
                         attempts.exact_height()}};
  }
  const bool balanced = solver::is_balanced(network.graph, network.capacity, network.rank_of);
  if (!is_whole(network, scaling)) attempts.forget_symmetries();
  const auto overfull = [&] {
    return packing_at(network, scaling.k, *attempts.overfull_scale(), attempts.take_overfull());
  };
  Ratio scale = scaling.scale;
  for (int rises = 1;; ++rises) {
    if (attempts.is_stopped()) {
      if (if_stopped == IfStopped::give_up || !attempts.overfull_scale()) return stopped();
      return PackingSoFar{overfull(), true};
    }
    FORESTCOLL_CHECK(!balanced || scale.den() != 1,
                     "a balanced fabric must pack where nothing is rounded");
    scale = next_scale_tried(network, scale, rises);
    if (attempts.overfull_scale() && *attempts.overfull_scale() <= scale) {
      return PackingSoFar{overfull()};
    }
    if (!solver::capacities_fit(network, scale)) return too_large();
    auto packed = attempts.pack_at(solver::floor_capacities(network, scale));
    if (!packed) continue;
    const Ratio reached = solver::forest_scale(network, packed->forest);
    if (attempts.overfull_scale() && *attempts.overfull_scale() < reached) {
      return PackingSoFar{overfull()};
    }
    return PackingSoFar{packing_at(network, scaling.k, reached, *std::move(packed))};
  }
}

}  // namespace

Expected<PackingSoFar> pack_so_far(const Network& network, const Weights& weights,
                                   const Scaling& scaling, const PackOptions& options,
                                   IfStopped if_stopped, const HeightSearch& search) {
  if (!options.known || network.ranks.size() > KnownPackings::kMostRanks) {
    return pack_anew(network, weights, scaling, options, if_stopped, search);
  }
  auto question = question_of(network, weights, scaling, options, search);
  if (auto known = options.known->find(question)) return PackingSoFar{*std::move(known)};
  auto found = pack_anew(network, weights, scaling, options, if_stopped, search);
  if (found && !found->stopped) options.known->add(std::move(question), found->packing);
  return found;
}

}  // namespace solver

Expected<Packing> pack(const Network& network, const Weights& weights, const Scaling& scaling,
                       const PackOptions& options) {
  auto packed = solver::pack_so_far(network, weights, scaling, options, solver::IfStopped::give_up);
  if (!packed) return packed.errors();
  return std::move(packed->packing);
}

}  // namespace forestcoll
