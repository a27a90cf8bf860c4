// Integers for the packing, the packing itself, and packing again after a failure.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/rate.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll {

/// How many trees per root (and unit of its weight).
struct TreesPerRoot {
  enum class Mode {
    optimal,  ///< the least k that reaches the optimum
    fixed,    ///< exactly `value`
    /// The best power of two up to `value`, the smallest of equals; or one of up to 1 % less whose
    /// trees are lower by a quarter.
    power_of_two,
    best_up_to,  ///< the best k up to `value`; the smallest of equals
  };
  Mode mode = Mode::optimal;
  std::int64_t value = 0;
};

/// One k and what it reaches: a row of the trade-off that a search over k reports.
struct RateAtK {
  std::int64_t k;
  Ratio algbw;  ///< GB/s
};

// Integers for the packing, and the packing itself.

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

class KnownPackings;

struct PackOptions {
  Progress progress = {};
  std::stop_token stop = {};  ///< asks to give up as soon as possible
  Effort effort = Effort::normal;
  std::int32_t enough_height = 1;  ///< no work on trees that are no higher
  bool symmetry = true;            ///< look for automorphisms and pack one root per orbit
  int threads = 1;                 ///< the forest does not depend on it
  std::shared_ptr<KnownPackings> known = {};  ///< of searches that ask the same more than once
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

// Packing again after a failure, around the trees that it did not touch.

/// How much of a previous forest is left. Trees are counted without their multiplicities: a kept
/// tree has the edges and paths that it had, and may have another multiplicity.
struct RepackStatistics {
  std::int64_t previous = 0;  ///< trees of the previous forest
  std::int64_t kept = 0;      ///< of those, in the new one
  std::int64_t touched = 0;   ///< not kept: a link that they use is gone
  std::int64_t added = 0;     ///< trees of the new forest that the previous one has not
  std::int64_t kept_multiplicity = 0, total_multiplicity = 0;  ///< of the new forest
};

struct Repacking {
  Packing packing;
  RepackStatistics repack;
};

/// Packs k·weight trees per rank into the scaled capacities, as `pack` does, and keeps as many of
/// the trees of `previous` as the capacities and the demand of all other trees allow: trees whose
/// links all exist are placed first, in proportion to what they had; where a cut then lacks room
/// for what is still owed, they give way. What is left is packed as ever. The rate is that of
/// `scaling`, just as from scratch. On fabrics with unbalanced switches, of which no theorem
/// speaks, the rest may not work out: then the rate is what packing from scratch reaches, and half
/// of all data stays on kept trees, a quarter and so on, or none.
///
/// A rank that `previous` has and `network` has not is cut off where it is a leaf.
/// REQUIRES: out-trees on nodes with the same NodeIds; every rank of `network` is one of
/// `previous`. Errors: those of `pack`. Cost: a pass over the previous forest, a flow per rank and
/// released tree at most, and the packing of the rest; up to six times that, and a packing from
/// scratch, where the rest does not work out.
[[nodiscard]] Expected<Repacking> repack(const Network& network, const Weights& weights,
                                         const Scaling& scaling, const Forest& previous,
                                         const PackOptions& options = {});

}  // namespace forestcoll
