// Lower trees for a lower rate: the best rate under a limit on the height, and the trade-off.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/pack.hpp"
#include "forestcoll/rate.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll {

/// The numbers of trees that low forests may have besides that of a scaling.
struct OtherNumbers {
  std::span<const Scaling> scalings = {};  ///< with what their cuts allow
  bool is_any = false;                     ///< any others as well
  /// U per tree, in the network's units: forests that need more are worth nothing.
  std::optional<Ratio> most_scale = {};
};

/// The fastest forest found whose trees are no higher than `max_height`, with `scaling.k` trees
/// per unit of weight: at `scaling` if that works, else at a larger U, a lower rate; `scaling` in
/// the result says at which. Where forests of another k, or of any, will do as well, `others` says
/// so: then the fastest of all. With few ranks also of all that less effort, a lower height and no
/// limit find; with up to `LowTreeSearch::kMostExact`, or at height 1, and any k it is the fastest
/// there is, but for optima of large denominators. Otherwise forests are found by search: a faster
/// one this low may exist. Errors: E16 where no forest on the fabric is this low whatever its rate
/// (`max_height` is below `height_lower_bound(network, weights)`); those of `pack`; R01 only where
/// nothing was found yet, or nothing within `others.most_scale`. Cost: that of some calls of
/// `pack`, with few ranks for each effort, k and lower height.
[[nodiscard]] Expected<Packing> pack_within_height(const Network& network, const Weights& weights,
                                                   const Scaling& scaling, std::int32_t max_height,
                                                   const PackOptions& options = {},
                                                   const OtherNumbers& others = {});

/// One height and the best rate found for it.
struct HeightAtRate {
  std::int32_t height = 0;  ///< of the highest tree
  double mean_height = 0;   ///< weighted by multiplicity
  std::int64_t k = 1;
  Ratio scale;  ///< U: every rank broadcasts at k/U per unit of its weight
};

/// How much rate lower trees cost at `scaling.k` trees per unit of weight, or at the k of one of
/// `others`: from the forest that `pack` finds at `scaling` down to the least height possible,
/// rates falling. Rows that are both higher and slower than another are left out. Where
/// `options.stop` asks to give up, those so far. Errors: those of `pack`; R01 without any row.
/// Cost: that of `pack_within_height` per row.
[[nodiscard]] Expected<std::vector<HeightAtRate>> rate_against_height(
    const Network& network, const Weights& weights, const Scaling& scaling,
    const PackOptions& options = {}, const OtherNumbers& others = {});

}  // namespace forestcoll
