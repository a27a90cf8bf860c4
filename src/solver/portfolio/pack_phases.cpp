#include "solver/portfolio/pack_phases.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "forestcoll/codes.hpp"
#include "forestcoll/congestion.hpp"
#include "solver/common/few_ranks.hpp"
#include "solver/common/forest_scale.hpp"
#include "solver/height/bound/bound.hpp"
#include "solver/pack/fallback_forest.hpp"
#include "solver/pack/search/max_height.hpp"
#include "solver/pack/search/pack_or_copy.hpp"
#include "solver/portfolio/best_forest.hpp"
#include "solver/portfolio/numbers_of_trees.hpp"
#include "solver/rate/balance.hpp"
#include "solver/rate/scale.hpp"
#include "solver/rate/trim.hpp"
#include "solver/symmetry/automorphisms.hpp"

namespace forestcoll::solver {
namespace {

// Tree edges up to which a quick forest is compared with a packing that was stopped.
constexpr std::size_t kMaxEdgesCompared = std::size_t{1} << 20;

Diagnostic not_low_in_time(std::int32_t height) {
  return make_error(Code::R01,
                    "asked to stop before the search for trees of height " +
                        std::to_string(height) + " had ended",
                    "allow more time, or higher trees");
}

// Of a part of the links, what forests of both phases may gain from each other where numbers of
// trees are rounded.
const Ratio kGainOfBoth(33, 32);

// U per tree that the phase may need where the collective is to be `least` GB/s fast and other
// phases take the least time there is. Nothing where that is 0, or numbers get too large.
std::optional<Ratio> most_scale(const Problem& problem, std::size_t i, const Ratio& least) {
  if (least <= Ratio(0)) return std::nullopt;
  const auto optimum = optimum_of(problem);
  if (!optimum) return std::nullopt;
  const auto times = checked_div(*optimum, least);
  if (!times) return std::nullopt;
  const Ratio& ours = problem.phases[i].rate.inverse;
  if (problem.phases.size() == 1) {
    const auto most = checked_mul(ours, *times);
    return most && problem.is_divided() ? checked_mul(*most, kGainOfBoth) : most;
  }
  const Ratio& other = problem.phases[1 - i].rate.inverse;
  if (problem.is_divided()) {
    const auto most = checked_mul(std::max(ours, other), *times);
    return most ? checked_mul(*most, kGainOfBoth) : std::nullopt;
  }
  const auto sum = checked_add(ours, other);
  const auto most = sum ? checked_mul(*sum, *times) : std::nullopt;
  const auto left = most ? checked_add(*most, Ratio(0) - other) : std::nullopt;
  return left && *left > Ratio(0) ? left : std::nullopt;
}

/// Packs the phases of one collective, one by one.
class PhasePacker {
 public:
  PhasePacker(const Problem& problem, const SynthesizeOptions& options, const ChosenScale& chosen,
              Synthesis& result)
      : problem_(problem),
        options_(options),
        chosen_(chosen),
        least_(result.forest.algbw),
        result_(result) {}

  Expected<Packing> pack_phase(std::size_t i) {
    const PhaseProblem& phase = problem_.phases[i];
    auto packing = try_to_pack(i);
    if (!packing || is_allreduce()) return packing;
    // The distance is the cheaper bound, and often the forest is no higher.
    std::int32_t least = distance_bound(phase.network, phase.weights, packing->forest.symmetry());
    if (packing->forest.max_height() > least) {
      least = packing->least_height
                  ? *packing->least_height
                  : height_lower_bound(phase.network, phase.weights, packing->scaling);
    }
    result_.least_height = std::max(result_.least_height, least);
    return packing;
  }

  [[nodiscard]] bool is_allreduce() const { return problem_.reduce && problem_.broadcast; }

 private:
  [[nodiscard]] bool is_too_high(const Packing& packing) const {
    return options_.max_height && packing.forest.max_height() > *options_.max_height;
  }
  [[nodiscard]] bool stop_requested() const { return options_.packing.stop.stop_requested(); }

  Expected<Packing> try_to_pack(std::size_t i) {
    const PhaseProblem& phase = problem_.phases[i];
    std::optional<Packing> so_far;
    // Nothing is chosen where the search for k was stopped before the first.
    if (!chosen_.scalings.empty() && !(options_.answer_when_stopped && stop_requested())) {
      auto found = pack_keeping_fabric(i);
      if (!found && !(options_.answer_when_stopped && was_stopped(found.errors()))) {
        return found.errors();
      }
      if (found && !found->stopped) {
        note(i, chosen_.scalings[i], found->packing);
        return std::move(found->packing);
      }
      if (found) so_far = std::move(found->packing);
    }
    result_.stopped = true;
    const std::size_t edges = phase.network.ranks.size() * phase.network.ranks.size();
    if (so_far && edges > kMaxEdgesCompared) return *std::move(so_far);
    Packing quick = fallback_forest(phase);
    if (is_too_high(quick)) {
      if (so_far) return *std::move(so_far);
      return not_low_in_time(*options_.max_height);
    }
    if (so_far && is_faster(so_far->scaling, quick.scaling)) return *std::move(so_far);
    return quick;
  }

  // A part can have symmetries that the fabric has not; whoever checks the forest sees the fabric.
  Expected<PackingSoFar> pack_keeping_fabric(std::size_t i) {
    if (!problem_.is_divided()) return pack_at(i, options_.packing);
    auto found = pack_part(i, options_.packing);
    if (!found || keeps_fabric(found->packing.forest.symmetry(), problem_.network)) return found;
    PackOptions plain = options_.packing;
    plain.symmetry = false;
    return pack_part(i, plain);
  }

  // A part is balanced at switches, and what rounding leaves of it need not be: then a unit more of
  // some links makes it so, and is packed without a search. What that costs the links shows. Few
  // ranks are worth a search.
  Expected<PackingSoFar> pack_part(std::size_t i, const PackOptions& packing) {
    const PhaseProblem& phase = problem_.phases[i];
    Scaling scaling = chosen_.scalings[i];
    const bool is_searched = options_.previous != nullptr || options_.max_height ||
                             phase.network.ranks.size() <= kFewRanks;
    if (is_searched || is_balanced(phase.network.graph, scaling.capacity, phase.network.rank_of)) {
      return pack_at(i, packing);
    }
    auto balanced = balanced_near(phase.network, scaling.scale);
    if (!balanced) return pack_at(i, packing);
    scaling.capacity = *std::move(balanced);
    auto found = pack_so_far(phase.network, phase.weights, scaling, packing, if_stopped());
    if (!found) return found;
    Scaling& reached = found->packing.scaling;
    reached.scale = std::max(reached.scale, forest_scale(phase.network, found->packing.forest));
    reached.capacity = floor_capacities(phase.network, reached.scale);
    return found;
  }

  [[nodiscard]] IfStopped if_stopped() const {
    return options_.answer_when_stopped ? IfStopped::finish_at_once : IfStopped::give_up;
  }

  Expected<PackingSoFar> pack_at(std::size_t i, const PackOptions& packing) {
    if (options_.max_height) {
      const auto others = open_scalings(problem_, options_, chosen_, i);
      return pack_low(i, {others, is_any_number_open(options_), most_scale(problem_, i, least_)},
                      packing);
    }
    const PhaseProblem& phase = problem_.phases[i];
    const Scaling& scaling = chosen_.scalings[i];
    if (options_.previous == nullptr) {
      return may_be_copies()
                 ? pack_or_copy(phase.network, phase.weights, phase.rate, scaling, packing,
                                if_stopped())
                 : pack_so_far(phase.network, phase.weights, scaling, packing, if_stopped());
    }
    const CollectiveForest& previous = *options_.previous;
    const bool reducing = !problem_.broadcast || i > 0;
    auto repacked = repack(phase.network, phase.weights, scaling,
                           reducing ? previous.reduce->reversed() : *previous.broadcast, packing);
    if (!repacked) return repacked.errors();
    add_up(repacked->repack);
    return PackingSoFar{std::move(repacked->packing)};
  }

  // Within the height that was asked for, with the chosen k or one of `others`.
  Expected<PackingSoFar> pack_low(std::size_t i, const OtherNumbers& others,
                                  const PackOptions& packing) {
    const PhaseProblem& phase = problem_.phases[i];
    const Scaling& scaling = chosen_.scalings[i];
    auto low = pack_within_height(phase.network, phase.weights, scaling, *options_.max_height,
                                  packing, others);
    if (!low) return low.errors();
    const bool ended_early = stop_requested() && is_faster(scaling, low->scaling);
    if (ended_early && !options_.answer_when_stopped) return not_low_in_time(*options_.max_height);
    const std::int64_t times = scaling.k / low->scaling.k;
    if (is_searched_by_phase(problem_, options_) || times == 1) {
      return PackingSoFar{*std::move(low), ended_early};
    }
    if (!is_copied_exactly(low->scaling, times)) {
      return pack_low(i, {{}, false, others.most_scale}, packing);
    }
    return PackingSoFar{copied(*std::move(low), times), ended_early};
  }

  // A search over k packs the divisors by itself; but where there are two phases, the best of each
  // may have another one.
  [[nodiscard]] bool may_be_copies() const {
    using Mode = TreesPerRoot::Mode;
    const Mode mode = options_.trees_per_root.mode;
    return mode == Mode::fixed || (mode != Mode::optimal && problem_.phases.size() > 1);
  }

  void add_up(const RepackStatistics& more) {
    if (!result_.repack) result_.repack.emplace();
    RepackStatistics& sum = *result_.repack;
    sum.previous += more.previous;
    sum.kept += more.kept;
    sum.touched += more.touched;
    sum.added += more.added;
    sum.kept_multiplicity += more.kept_multiplicity;
    sum.total_multiplicity += more.total_multiplicity;
  }

  void note(std::size_t i, const Scaling& asked, const Packing& packing) {
    result_.statistics.cuts += packing.statistics.cuts;
    result_.statistics.checks += packing.statistics.checks;
    result_.statistics.repairs += packing.statistics.repairs;
    result_.statistics.splits += packing.statistics.splits;
    if (!is_faster(asked, packing.scaling)) return;
    result_.raised = true;
    const auto at_k = checked_mul(packing.scaling.scale, Ratio(asked.k, packing.scaling.k));
    const Raise raise{asked.scale, at_k.value_or(packing.scaling.scale)};
    if (i == 0 && problem_.broadcast) result_.broadcast_raise = raise;
    if (i > 0 || !problem_.broadcast || problem_.shared) result_.reduce_raise = raise;
  }

  // As many trees per root as were asked for, if a number was: copies of the same.
  [[nodiscard]] Packing fallback_forest(const PhaseProblem& phase) const {
    Packing packing = quick_forest(phase.network, phase.weights);
    if (options_.trees_per_root.mode != TreesPerRoot::Mode::fixed) return packing;
    const std::int64_t k = options_.trees_per_root.value;
    const auto scale = checked_mul(packing.scaling.scale, Ratio(k));
    const Capacity widest =
        *std::max_element(packing.scaling.capacity.begin(), packing.scaling.capacity.end());
    if (!scale || Int128{widest} * k >= Int128{1} << 62) return packing;
    return copied(std::move(packing), k);
  }

  const Problem& problem_;
  const SynthesizeOptions& options_;
  const ChosenScale& chosen_;
  const Ratio least_;  ///< GB/s: slower forests are worth nothing
  Synthesis& result_;
};

}  // namespace

Expected<Synthesis> pack_phases(const Problem& problem, const SynthesizeOptions& options,
                                const ChosenScale& chosen, Synthesis begun) {
  Synthesis result = std::move(begun);
  result.allowed = chosen.scalings.empty() ? result.forest.optimum : chosen.algbw;
  PhasePacker packer(problem, options, chosen, result);
  std::vector<Packing> packed;
  std::vector<ScaleAndK> reached;
  for (std::size_t i = 0; i < problem.phases.size(); ++i) {
    auto phase = packer.pack_phase(i);
    if (!phase) return phase.errors();
    reached.push_back({phase->scaling.scale, phase->scaling.k});
    packed.push_back(*std::move(phase));
  }
  auto k = common_k(packed.front().scaling.k, packed.back().scaling.k);
  if (!k) return k.errors();
  CollectiveForest& forest = result.forest;
  forest.k = *k;
  const auto at_common_k = [&](const Packing& phase) {
    return phase.scaling.k == forest.k ? phase.forest
                                       : phase.forest.scaled(forest.k / phase.scaling.k);
  };
  if (problem.broadcast) forest.broadcast = at_common_k(packed.front());
  if (problem.reduce) forest.reduce = at_common_k(packed.back()).reversed();
  auto algbw = algbw_of(problem.phases, reached);
  if (!algbw) return algbw.errors();
  forest.algbw = *algbw;
  // Rounded to k trees, what one phase leaves of an arc serves the other.
  if (problem.is_divided()) {
    const auto at_once = congestion_algbw(forest, problem.network);
    if (at_once && forest.algbw < *at_once) forest.algbw = *at_once;
    result.allowed = std::max(result.allowed, forest.algbw);
  }
  if (packer.is_allreduce()) {
    // Of all that carry it out, and not of these parts of the links and these shares alone.
    result.least_height = least_height_of(forest, problem.network);
  }
  return result;
}

}  // namespace forestcoll::solver
