// Integers for the packing, and the packing itself.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string_view>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/rate.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll {

/// Capacities of at most U·b_e that carry k trees per unit of weight; each tree has bandwidth 1/U.
struct Scaling {
  std::int64_t k = 1;
  Ratio scale;                         ///< U
  IdVector<ArcId, Capacity> capacity;  ///< ⌊U·b_e⌋, or a balanced part of that
};

/// The least k at which the optimal rate is reached exactly: U/k = 1/x*, all U·b_e integral, or all
/// U·c_e of the rate's part where it has one.
[[nodiscard]] Scaling scale_to_optimum(const Network& network, const Rate& rate);

/// The least U for which ⌊U·b_e⌋ carries k trees per unit of weight; exact, by jumping over
/// violated cuts. Errors: E14 where k is too large for exact arithmetic, R01 where `stop` asked to
/// give up (see `optimal_rate`).
[[nodiscard]] Expected<Scaling> scale_to_k(const Network& network, const Weights& weights,
                                           const Rate& rate, std::int64_t k,
                                           const std::stop_token& stop = {});

/// No forest with these roots is lower, whatever its rate: the largest number of hops from a root
/// to a rank, any way through switches counted as one hop.
/// REQUIRES: all compute nodes reach one another. Cost: O(N/64 · height · m), a little more where
/// switches stand in long rows.
[[nodiscard]] std::int32_t height_lower_bound(const Network& network, const Weights& weights);

/// No forest with k·weight trees per rank within `scaling.capacity` is lower: at the optimal rate
/// scarce cuts can force more than the distance. At least the distance bound above.
/// Cost: well below that of packing; refinements that would cost more are left out by size.
[[nodiscard]] std::int32_t height_lower_bound(const Network& network, const Weights& weights,
                                              const Scaling& scaling);

struct PackStatistics {
  std::int64_t cuts = 0;     ///< in the pool at the end
  std::int64_t checks = 0;   ///< of the whole invariant
  std::int64_t repairs = 0;  ///< trees, and subtrees of a tree in progress, taken back
  std::int64_t splits = 0;   ///< multiplicities reduced
};

struct Packing {
  Forest forest;
  Scaling scaling;  ///< what was carried; scale above the asked one where balance cost
  PackStatistics statistics;
  /// `height_lower_bound` at `scaling`, where it was worked out on the way.
  std::optional<std::int32_t> least_height = {};
};

/// Told of what is being done, in words for people ("packing"), and what part of it is done, 0 … 1;
/// nothing where that is not known. Called by one thread at a time.
using Progress = std::function<void(std::string_view stage, std::optional<double> fraction)>;

/// How long to work on lower trees once a forest stands. None of the three looks at a clock: the
/// same input gives the same forest.
enum class Effort { fast, normal, max };

struct PackOptions {
  Progress progress = {};
  std::stop_token stop = {};  ///< asks to give up as soon as possible
  Effort effort = Effort::normal;
  std::int32_t enough_height = 1;  ///< no work on trees that are no higher
  bool symmetry = true;            ///< look for automorphisms and pack one root per orbit
  int threads = 1;                 ///< the forest does not depend on it
};

/// Packs k·weight spanning out-trees per rank into the scaled capacities. With balanced switches
/// (as much enters as leaves) every scaling that its cuts allow is packed (Edmonds 1973;
/// Bang-Jensen, Frank, Jackson 1995). About others the theorem is silent: floors of a fixed k, or
/// one-way links. They are packed as they are if that works, else trimmed to balance (which is
/// found wherever a linear program, rounded, gives it), else with U raised until a forest is found;
/// `scaling.scale` in the result is then what that forest needs.
/// Errors: E14 where numbers grow too large on the way, R01 where it was asked to stop.
[[nodiscard]] Expected<Packing> pack(const Network& network, const Weights& weights,
                                     const Scaling& scaling, const PackOptions& options = {});

}  // namespace forestcoll
