// What is to be packed: the phases of a collective, and the k and scale of each.
#pragma once

#include <cstdint>
#include <stop_token>
#include <vector>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/pack.hpp"
#include "forestcoll/rate.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::solver {

/// What one phase of a collective packs: out-trees from the roots on a network. Its rate counts
/// `times` times where both directions share it one after the other.
struct PhaseProblem {
  const Network& network;
  const Weights& weights;
  Rate rate;
  int times = 1;
  bool at_once = false;  ///< at the same time as the phase before it, on arcs of its own
};

/// What each phase is packed at: k trees per root of bandwidth 1/scale.
struct ScaleAndK {
  Ratio scale;
  std::int64_t k = 1;
};
/// What all roots own over the time that the phases take, one after the other unless at once, in
/// GB/s. Error E14.
[[nodiscard]] Expected<Ratio> algbw_of(const std::vector<PhaseProblem>& phases,
                                       const std::vector<ScaleAndK>& at);
/// Does a tree per root of `a` get more than one of `b`, by k/scale? Not where that cannot be
/// compared exactly.
[[nodiscard]] bool is_faster(const ScaleAndK& a, const ScaleAndK& b);
[[nodiscard]] inline bool is_faster(const Scaling& a, const Scaling& b) {
  return is_faster(ScaleAndK{a.scale, a.k}, ScaleAndK{b.scale, b.k});
}
/// Phases that cut the data into the same chunks. Error E14.
[[nodiscard]] Expected<std::int64_t> common_k(std::int64_t a, std::int64_t b);

/// The scale and k of every phase, and what they reach.
struct ChosenScale {
  std::vector<Scaling> scalings;  ///< one per phase; none where it was stopped before the first k
  Ratio algbw;                    ///< GB/s, of all phases: what the cuts allow
  std::vector<RateAtK> rows;      ///< where k was searched for, what each k reaches
  bool stopped = false;           ///< not all k were tried
};

/// All phases at the same k, the best of those asked for; `optimal` has each at its own.
/// Errors: E14. Cost: `scale_to_k` per k and phase.
[[nodiscard]] Expected<ChosenScale> choose_scale(const std::vector<PhaseProblem>& phases,
                                                 const TreesPerRoot& asked,
                                                 const std::stop_token& stop);

}  // namespace forestcoll::solver
