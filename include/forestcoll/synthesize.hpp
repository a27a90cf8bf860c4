// The facade: from a topology to a proved forest.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "forestcoll/collective.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/pack.hpp"
#include "forestcoll/rate.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll {

/// How many trees per root.
struct TreesPerRoot {
  enum class Mode {
    optimal,       ///< the least k that reaches the optimum
    fixed,         ///< exactly `value`
    power_of_two,  ///< the best power of two up to `value`; the smallest of equals
    best_up_to,    ///< the best k up to `value`; the smallest of equals
  };
  Mode mode = Mode::optimal;
  std::int64_t value = 0;
};

struct SynthesizeOptions {
  Collective collective = Collective::allreduce;
  std::optional<Rank> root;  ///< required for broadcast and reduce
  TreesPerRoot trees_per_root;
  PackOptions packing;
};

/// One k and what it reaches: a row of the trade-off that a search over k reports.
struct RateAtK {
  std::int64_t k;
  Ratio algbw;  ///< GB/s
};

struct StageSeconds {
  double rate = 0, pack = 0;
};

struct Synthesis {
  CollectiveForest forest;
  /// With the bottleneck cut, per phase. Reduce phases are solved on the reversed network: the
  /// cut's sending side is the one that receives.
  std::optional<Rate> reduce_rate, broadcast_rate;
  /// The scale asked for could not be packed, because switches' two sides differ (by themselves
  /// or after rounding to k trees): U was raised, and `forest.algbw` is what that left.
  bool raised = false;
  /// No forest for this collective is lower; see `height_lower_bound`.
  std::int32_t least_height = 0;
  std::vector<RateAtK> tradeoff;  ///< modes that search: the collective's rate at each k
  PackStatistics statistics;
  StageSeconds seconds;
};

/// The optimal rate of a collective, with its proof per phase.
struct Bound {
  Ratio algbw;         ///< GB/s: allreduce as reduce_scatter then allgather
  std::int64_t k = 1;  ///< trees per root that reach it
  std::optional<Rate> reduce_rate, broadcast_rate;
};
[[nodiscard]] Expected<Bound> bound(const Network& network, Collective collective,
                                    std::optional<Rank> root);

/// Rate, scaling and packing for one collective. Reduce phases are solved on the reversed network;
/// where that is the same network, both phases share one solution.
[[nodiscard]] Expected<Synthesis> synthesize(const Network& network,
                                             const SynthesizeOptions& options);

}  // namespace forestcoll
