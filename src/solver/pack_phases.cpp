#include "solver/pack_phases.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "forestcoll/congestion.hpp"
#include "forestcoll/max_height.hpp"
#include "solver/allreduce/at_once.hpp"
#include "solver/height/bound.hpp"
#include "solver/pack/fallback_forest.hpp"
#include "solver/pack/pack_or_copy.hpp"

namespace forestcoll::solver {
namespace {

// Powers of two up to this are tried for lower trees.
constexpr std::int64_t kMostOtherTrees = 16;

// Tree edges up to which a quick forest is compared with a packing that was stopped.
constexpr std::size_t kMaxEdgesCompared = std::size_t{1} << 20;

bool scaling_is_faster(const Scaling& a, const Scaling& b) {
  return is_faster({a.scale, a.k}, {b.scale, b.k});
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Packs the phases of one collective, one by one.
class PhasePacker {
 public:
  PhasePacker(const Problem& problem, const SynthesizeOptions& options, Synthesis& result)
      : problem_(problem), options_(options), result_(result) {}

  // `scaling`: none where the search for k was stopped before the first.
  Expected<Packing> pack_phase(std::size_t i, const Scaling* scaling) {
    const Phase& phase = problem_.phases[i];
    auto packing = try_to_pack(i, scaling);
    if (!packing) return packing;
    // The distance is the cheaper bound, and often the forest is no higher. It is all that is known
    // where the fabric could be divided otherwise.
    const Network& fabric = problem_.is_divided() ? problem_.network : phase.network;
    std::int32_t least = distance_bound(fabric, phase.weights, packing->forest.symmetry());
    if (packing->forest.max_height() > least && !problem_.is_divided()) {
      least = packing->least_height
                  ? *packing->least_height
                  : height_lower_bound(phase.network, phase.weights, packing->scaling);
    }
    result_.least_height = std::max(result_.least_height, least);
    return packing;
  }

 private:
  [[nodiscard]] bool stop_requested() const { return options_.packing.stop.stop_requested(); }

  Expected<Packing> try_to_pack(std::size_t i, const Scaling* scaling) {
    const Phase& phase = problem_.phases[i];
    std::optional<Packing> so_far;
    if (scaling != nullptr && !(options_.answer_when_stopped && stop_requested())) {
      auto found = pack_keeping_fabric(i, *scaling);
      if (!found && !(options_.answer_when_stopped && was_stopped(found.errors()))) {
        return found.errors();
      }
      if (found && !found->stopped) {
        note(i, *scaling, found->packing);
        return std::move(found->packing);
      }
      if (found) so_far = std::move(found->packing);
    }
    result_.stopped = true;
    const std::size_t edges = phase.network.ranks.size() * phase.network.ranks.size();
    if (so_far && edges > kMaxEdgesCompared) return *std::move(so_far);
    Packing quick = fallback_forest(phase);
    if (so_far && scaling_is_faster(so_far->scaling, quick.scaling)) return *std::move(so_far);
    return quick;
  }

  // A part can have symmetries that the fabric has not; whoever checks the forest sees the fabric.
  Expected<PackingSoFar> pack_keeping_fabric(std::size_t i, const Scaling& scaling) {
    auto found = pack_at(i, scaling, options_.packing);
    if (!problem_.is_divided() || !found ||
        keeps_fabric(found->packing.forest.symmetry(), problem_.network)) {
      return found;
    }
    PackOptions plain = options_.packing;
    plain.symmetry = false;
    return pack_at(i, scaling, plain);
  }

  Expected<PackingSoFar> pack_at(std::size_t i, const Scaling& scaling,
                                 const PackOptions& packing) {
    const Phase& phase = problem_.phases[i];
    if (options_.max_height) {
      auto low = pack_within_height(phase.network, phase.weights, scaling, *options_.max_height,
                                    packing, other_scalings(phase, scaling, options_));
      if (!low) return low.errors();
      return PackingSoFar{*std::move(low)};
    }
    if (options_.previous == nullptr) {
      const IfStopped if_stopped =
          options_.answer_when_stopped ? IfStopped::finish_at_once : IfStopped::give_up;
      return may_be_copies()
                 ? pack_or_copy(phase.network, phase.weights, phase.rate, scaling, packing,
                                if_stopped)
                 : pack_so_far(phase.network, phase.weights, scaling, packing, if_stopped);
    }
    const CollectiveForest& previous = *options_.previous;
    const bool reducing = !problem_.broadcast || i > 0;
    auto repacked = repack(phase.network, phase.weights, scaling,
                           reducing ? previous.reduce->reversed() : *previous.broadcast, packing);
    if (!repacked) return repacked.errors();
    add_up(repacked->repack);
    return PackingSoFar{std::move(repacked->packing)};
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
    if (!is_faster({asked.scale, asked.k}, {packing.scaling.scale, packing.scaling.k})) {
      return;
    }
    result_.raised = true;
    const auto at_k = checked_mul(packing.scaling.scale, Ratio(asked.k, packing.scaling.k));
    const Raise raise{asked.scale, at_k.value_or(packing.scaling.scale)};
    if (i == 0 && problem_.broadcast) result_.broadcast_raise = raise;
    if (i > 0 || !problem_.broadcast || problem_.shared) result_.reduce_raise = raise;
  }

  // As many trees per root as were asked for, if a number was: copies of the same.
  [[nodiscard]] Packing fallback_forest(const Phase& phase) const {
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
  Synthesis& result_;
};

// Packs the trees straight into the fabric, at `planned`, and puts the phases together.
Expected<Synthesis> pack_planned(const Problem& problem, const SynthesizeOptions& options,
                                 const Plan& planned, Synthesis result) {
  result.allowed = planned.scalings.empty() ? result.forest.optimum : planned.algbw;
  PhasePacker packer(problem, options, result);
  std::vector<Packing> packed;
  std::vector<ScaleAndK> reached;
  for (std::size_t i = 0; i < problem.phases.size(); ++i) {
    auto phase = packer.pack_phase(i, planned.scalings.empty() ? nullptr : &planned.scalings[i]);
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
  return result;
}

// Where the k that allows most could not be packed at that, another may have more: those that allow
// more than the best so far, until none is left.
Expected<Synthesis> pack_best(const Problem& problem, const SynthesizeOptions& options,
                              const Plan& planned, const Synthesis& begun) {
  auto best = pack_planned(problem, options, planned, begun);
  if (!best || options.max_height || options.previous != nullptr) return best;
  std::vector<RateAtK> others = planned.rows;
  std::stable_sort(others.begin(), others.end(),
                   [](const RateAtK& a, const RateAtK& b) { return b.algbw < a.algbw; });
  for (const RateAtK& other : others) {
    if (best->stopped || !(best->forest.algbw < other.algbw)) break;
    if (!planned.scalings.empty() && other.k == planned.scalings.front().k) continue;
    auto again = plan(problem.phases, {TreesPerRoot::Mode::fixed, other.k}, options.packing.stop);
    if (!again || again->stopped) break;
    auto next = pack_planned(problem, options, *again, begun);
    if (!next || next->stopped) break;
    if (best->forest.algbw < next->forest.algbw) best = std::move(next);
  }
  return best;
}

}  // namespace

// What other numbers of trees per root allow, where one was not asked for: for lower trees.
std::vector<Scaling> other_scalings(const Phase& phase, const Scaling& scaling,
                                    const SynthesizeOptions& options) {
  using Mode = TreesPerRoot::Mode;
  const TreesPerRoot& asked = options.trees_per_root;
  std::vector<Scaling> others;
  if (asked.mode == Mode::fixed) return others;
  const std::int64_t most = asked.mode == Mode::optimal ? kMostOtherTrees : asked.value;
  for (std::int64_t k = 1; k <= std::min(most, kMostOtherTrees); k *= 2) {
    if (k == scaling.k) continue;
    auto other = scale_to_k(phase.network, phase.weights, phase.rate, k, options.packing.stop);
    if (other) others.push_back(*std::move(other));
  }
  return others;
}

Expected<Synthesis> plan_and_pack(const Problem& problem, const SynthesizeOptions& options,
                                  Synthesis begun) {
  // Make capacities integral; that fixes the number of trees per root.
  auto start = std::chrono::steady_clock::now();
  auto planned = plan(problem.phases, options.trees_per_root, options.packing.stop);
  if (!planned) return planned.errors();
  begun.stopped = planned->stopped;
  begun.tradeoff = planned->rows;
  begun.seconds.rate += seconds_since(start);

  // Pack the trees straight into the fabric, and put the phases together.
  if (options.packing.progress) options.packing.progress("packing", std::nullopt);
  start = std::chrono::steady_clock::now();
  auto result = pack_best(problem, options, *planned, begun);
  if (result) result->seconds.pack += seconds_since(start);
  return result;
}

}  // namespace forestcoll::solver
