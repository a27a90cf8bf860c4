// From a network to a proved forest: rate, scaling, packing.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

#include "forestcoll/collective.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/pack.hpp"
#include "forestcoll/rate.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll {

struct SynthesizeOptions {
  Collective collective = Collective::allreduce;
  std::optional<Rank> root = {};  ///< where the collective has one
  TreesPerRoot trees_per_root = {};
  PackOptions packing = {};
  std::optional<std::int32_t> max_height = {};  ///< no tree higher, at whatever rate that leaves
  /// Trees to keep, of the same collective and root: see `repack`. Not together with `max_height`.
  const CollectiveForest* previous = nullptr;
  /// Where `packing.stop` asks to give up: a forest that is made at once, at a lower rate, for each
  /// phase that is not packed yet, instead of the error R01. While the optimal rate is not known
  /// there is none, and the error says what is proved of that.
  bool answer_when_stopped = false;
  /// Both phases of an allreduce may run at the same time, where that is faster.
  bool at_once = true;
  /// With up to 40 ranks, also what a lower limit on the height finds, and where any number of
  /// trees will do what powers of two and small numbers find: so that more freedom is never worse.
  bool beside_less = true;
};

struct StageSeconds {
  double rate = 0, pack = 0;
};

/// A scale that could not be packed, and the one that was.
struct Raise {
  /// U at the k asked for: each of k trees has bandwidth 1/U, in the network's units.
  Ratio asked, reached;
};

/// A faster forest that lower trees were preferred to.
struct GivenUp {
  std::int64_t k = 1;
  Ratio algbw;  ///< GB/s
  std::int32_t height = 0;
};

struct Synthesis {
  CollectiveForest forest;
  /// With the bottleneck cut, per phase. Reduce phases are solved on the reversed network: the
  /// cut's sending side is the one that receives.
  std::optional<Rate> reduce_rate, broadcast_rate;
  Ratio allowed;  ///< GB/s: what the cuts allow at the k that was asked for or chosen
  /// GB/s: the optimum of reduce-scatter, then allgather, where an allreduce is better with both at
  /// once. `forest.optimum` is then that of both at once.
  std::optional<Ratio> two_phases = {};
  /// GB/s: where the optimum is not known, what it is at least; `forest.optimum` is then what
  /// nothing exceeds.
  std::optional<Ratio> optimum_at_least = {};
  /// GB/s: the optimum of forests, whose edges are paths, where `forest.optimum` is a lower one, of
  /// schedules, which name peers and no routes. Only `compile` says that.
  std::optional<Ratio> optimum_of_paths = {};
  /// The scale asked for could not be packed, because switches' two sides differ (by themselves
  /// or after rounding to k trees) or because trees had to be lower (`max_height`): U was raised,
  /// and `forest.algbw` is what that left of `allowed`.
  bool raised = false;
  std::optional<Raise> reduce_raise, broadcast_raise;  ///< where that happened
  /// GB/s: the grid that bandwidths were rounded down to, where exact numbers did not fit at the k
  /// of the optimum. `forest.optimum` is that of the fabric as it is.
  std::optional<Ratio> rounded_to = {};
  bool stopped = false;                    ///< before the end: see `answer_when_stopped`
  std::optional<RepackStatistics> repack;  ///< with `previous`: over all phases
  /// No forest for this collective with as many trees at this rate is lower; see
  /// `height_lower_bound`. Of an allreduce, none at this rate, whatever the shares of its roots and
  /// the number of its trees, with both phases at once or one after the other.
  std::int32_t least_height = 0;
  /// The fastest forest found, where a little of its rate was given up for trees that are lower by
  /// a quarter or more, as the search among the powers of two does.
  std::optional<GivenUp> given_up = {};
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
/// where that is the same network, both phases share one solution. Ranks own what `network.weight`
/// says; algbw is the size of everybody's data together divided by the time. The phases of an
/// allreduce come one after the other, each on all of the fabric; where dividing every link between
/// them lets both at once be faster (`allreduce_optimum`; as on fabrics whose ranks differ), that
/// is done if its trees are faster, too: roots then have the shares that are best, which
/// `forest.weight` says where they are not what the ranks own. For k trees these are rounded, to as
/// many trees in all, or, where ranks are more than a thousand, to no more.
///
/// Errors: E14 (exact arithmetic), E16 (`max_height` below the distances), R01 (stopped), R02
/// (`previous` does not fit the network or the collective).
[[nodiscard]] Expected<Synthesis> synthesize(const Network& network,
                                             const SynthesizeOptions& options);

/// What k trees per root allow: for the powers of two up to `most`, and for the k that reaches
/// the optimum; of an allreduce one phase after the other. Where `stop` asks to give up, for the k
/// so far. Errors: E14; R01 where not even the optimum was known. Cost: `scale_to_k` per row.
[[nodiscard]] Expected<std::vector<RateAtK>> rate_by_k(const Network& network,
                                                       Collective collective,
                                                       std::optional<Rank> root, std::int64_t most,
                                                       const std::stop_token& stop = {});

/// The best rate found for trees no higher than `height`.
struct RateAtHeight {
  std::int32_t height = 0;
  double mean_height = 0;  ///< weighted by multiplicity, over the phases alike
  std::int64_t k = 1;
  Ratio algbw;  ///< GB/s
};

/// What lower trees cost, at the k that `options` asks for (of an allreduce, one phase after the
/// other); the highest trees first. `max_height` and `previous` are not looked at. Where
/// `options.packing.stop` asks to give up, the rows so far. Errors: those of `synthesize`; R01
/// without any row. Cost: that of packing several times per row.
[[nodiscard]] Expected<std::vector<RateAtHeight>> rate_by_height(const Network& network,
                                                                 const SynthesizeOptions& options);

}  // namespace forestcoll
