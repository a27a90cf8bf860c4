// Wirings and clusters that might be built: what each is worth, which there are for so many
// accelerators, published formulas, local search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/generate.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll {

// What a wiring or a cluster is worth: exact optima of collectives, figures as a graph, failures.

/// The most nodes of a wiring that is studied.
inline constexpr std::size_t kMostStudiedNodes = 4096;

/// A number that is proved to be in an interval, ends included.
struct ProvedInterval {
  Ratio least, most;
  [[nodiscard]] bool is_exact() const { return least == most; }
  bool operator==(const ProvedInterval&) const = default;
};

/// Times are in units of M/B: M is the whole buffer, B what all ports of a node send together, so
/// that a link carries B/ports (Zhao et al., NSDI 2025). No allgather takes less than (N − 1)/N
/// where every port has a link.
struct WiringFigures {
  std::size_t nodes = 0, ports = 0, links = 0;  ///< one-way links
  std::size_t steps = 0;     ///< the diameter: what any schedule takes at least, and BFB takes
  Ratio mean_distance;       ///< over all ordered pairs of different nodes
  Ratio allgather;           ///< of the optimal forest: no schedule is faster, and trees reach it
  Ratio reduce_scatter;      ///< likewise
  ProvedInterval allreduce;  ///< `most` is reached by trees, and none are faster than `least`
  /// Of the breadth-first broadcast schedule, which sends every block along shortest paths, in as
  /// many steps; none with more than 16 ports.
  std::optional<Ratio> bfb;
  ProvedInterval alltoall;
  /// The fewest links that lead from one half of the nodes to the other (halves differ by one node
  /// where their number is odd).
  ProvedInterval bisection;
  /// Allgather after the worst failure of one cable, which takes both ways with it where all
  /// cables are both ways. None where that cuts nodes off.
  std::optional<ProvedInterval> after_failure;
};

struct WiringFiguresOptions {
  /// Beyond so many sources times arcs, after symmetry, all-to-all is an interval by shortest paths
  /// alone.
  std::size_t alltoall_flows = 600'000;
};

/// The wiring as a network, links of 1 GB/s. REQUIRES: at most 2^20 links.
[[nodiscard]] Network network_of(const Wiring& wiring);

/// Steps and Σ of distances over ordered pairs; nothing where not all nodes reach one another.
struct WiringDistances {
  std::size_t steps = 0;
  std::int64_t sum = 0;
};
/// Cost: O(nodes · links).
[[nodiscard]] std::optional<WiringDistances> distances_of(const Wiring& wiring);

/// Allgather by the optimal forest, in units of M/B. REQUIRES: at least two nodes, all of which
/// reach one another. Cost: that of `optimal_rate`.
[[nodiscard]] Ratio allgather_time(const Wiring& wiring);

/// Every figure. Allgather and reduce-scatter are `optimal_rate`'s. The worst failure is exact
/// where the narrowest cut is as narrow as the bottleneck's: one cable takes at most one link from
/// any cut, so the rate falls by one part in the links of the narrowest cut at most, and does fall
/// so in the bottleneck. The bisection is exact up to 20 nodes, and where flows of all-to-all and
/// the best halves found meet: all-to-all at a rate θ sends θ from each node of a half to each of
/// the other, also where links are taken both ways, if as many enter each node as leave it: half as
/// many lead out of a half then as lead out and in. Errors: K01 where the nodes do not all reach
/// one another, or the wiring has more than `kMostStudiedNodes`; E14. Cost: that of the rates and
/// of all-to-all, and O(nodes · (links + nodes)).
[[nodiscard]] Expected<WiringFigures> wiring_figures(const Wiring& wiring,
                                                     const WiringFiguresOptions& options = {});

/// GB/s of algbw.
struct ClusterFigures {
  Ratio allgather;  ///< exact; where links share capacities, what trees reach
  Ratio allreduce;  ///< reduce-scatter, then allgather, likewise
  ProvedInterval alltoall;
  Ratio after_failure;  ///< allgather without the switch whose failure costs most; 0: it cuts
                        ///< GPUs off
  std::string failed;   ///< that switch, an id of the topology
};

/// Only switches fail, one of each kind that colour refinement tells apart: a cable takes no more
/// with it than the switch at its end. What is inside of boxes is the same in all shapes and does
/// not fail. Errors: those of the topology, E14. Cost: a rate per kind of switch, and one more each
/// way; where links share capacities, an `optimum_of_all` in place of a rate.
[[nodiscard]] Expected<ClusterFigures> cluster_figures(const ClusterShape& shape);

// Which wiring for so many accelerators.

struct DirectRequest {
  std::size_t nodes = 0;
  std::size_t ports = 0;
  bool two_way = false;     ///< cables both ways only
  std::size_t randoms = 2;  ///< so many random regular graphs, of seeds 1, 2, …
};

/// The expressions of all wirings that have exactly so many nodes and ports, base graphs first,
/// each once: every base graph, and line digraphs, degree expansions, powers and products of those
/// smaller ones that no other beats by steps, BFB's time and mean distance. Circulants are those of
/// fewest steps among offsets 1 and b, of consecutive offsets, and of powers of a number. Errors:
/// K01 where nothing has so many, in words that say why. Cost: that of BFB on all smaller
/// candidates.
[[nodiscard]] Expected<std::vector<std::string>> direct_candidates(const DirectRequest& request);

/// What is published of a construction (Zhao et al., NSDI 2025), where it is.
struct ClosedForm {
  std::optional<std::size_t> steps;  ///< T_L
  std::optional<Ratio> bfb;          ///< T_B, in units of M/B
};
/// Of a base graph by its formula; of an expansion by the theorem's formula from those of what it
/// expands, and where that has none, from what it takes. REQUIRES: `make_wiring` takes it.
/// Cost: that of BFB on what is expanded and has no formula.
[[nodiscard]] ClosedForm closed_form(std::string_view expression);

/// What a front is about: two times, or three.
enum class DirectAim {
  allgather,  ///< steps and the forest's time; reduce-scatter and allreduce have the same front
  bfb,        ///< steps and BFB's time
  alltoall,   ///< steps and all-to-all's time
  all,        ///< steps, the forest's time and all-to-all's
};
/// By position: is there no other that is as good in all and better in one? Of proved intervals the
/// larger end counts.
[[nodiscard]] std::vector<bool> pareto_front(std::span<const WiringFigures> figures, DirectAim aim);

/// By position: is it on the front, or would it be if all-to-all took it as little as its interval
/// says, and the others as much? Cost: that of a front for each.
[[nodiscard]] std::vector<bool> perhaps_on_front(std::span<const WiringFigures> figures,
                                                 DirectAim aim);

// The published formulas of wirings, held against what is computed.

/// How a formula's figure stands to the exact one.
enum class FormulaVerdict {
  none,        ///< nothing is published
  equal,       ///< it is what BFB takes
  bound,       ///< BFB takes less: the formula is right as an upper bound
  other,       ///< BFB takes more, but the optimal forest does not: right of another schedule
  impossible,  ///< no schedule takes so little, by the diameter or by a cut: the formula is wrong
};
[[nodiscard]] std::string_view to_string(FormulaVerdict verdict);

struct FormulaCheck {
  std::string expression;
  std::string construction;  ///< a base graph's name, or "L(g)", "g*n", "g^n", "g x h"
  std::size_t nodes = 0, ports = 0;
  ClosedForm published;
  std::size_t steps = 0;  ///< the diameter: what BFB takes, and any schedule at least
  Ratio bfb, allgather;   ///< exact times, in units of M/B, as in `WiringFigures`
  FormulaVerdict of_steps = FormulaVerdict::none, of_time = FormulaVerdict::none;
};

struct FormulaRequest {
  std::size_t most_nodes = 0;  ///< all sizes up to this
  std::size_t ports = 0;
};

/// The expressions of all wirings of any size up to `most_nodes` about which a formula says
/// something, the smallest first: base graphs, and expansions of all base graphs and of those
/// wirings that `direct_candidates` expands. The same wiring may be there under several names: each
/// has its formula. Errors: K01. Cost: that of BFB on all candidates that are expanded.
[[nodiscard]] Expected<std::vector<std::string>> formula_candidates(const FormulaRequest& request);

/// REQUIRES: one of `formula_candidates`. Cost: that of BFB and of a rate.
[[nodiscard]] FormulaCheck check_formula(std::string_view expression);

// Better wirings than those with a name: local search from one of them.

struct WiringSearchOptions {
  std::size_t moves = 1'000;  ///< exchanges to try
  std::uint64_t seed = 1;
  std::stop_token stop = {};                       ///< asks for the best so far
  std::function<void(std::size_t)> progress = {};  ///< called with the moves tried
};

struct WiringSearch {
  Wiring wiring;             ///< the best one met
  std::size_t tried = 0;     ///< moves
  std::size_t accepted = 0;  ///< of them, those that made nothing worse
  bool stopped = false;      ///< before all moves: where depends on the clock
};

/// Two cables exchange an end, again and again, at random; a move stays where the wiring is not
/// worse: by the exact time of allgather, then by the steps, then by the sum of all distances,
/// which bounds all-to-all. Cables both ways stay so. All nodes keep their ports. The same for the
/// same seed, unless it was stopped. Errors: K01 where the nodes do not all reach one another, or
/// there are fewer than two cables or more than `kMostStudiedNodes` nodes.
/// Cost: O(nodes · links) per move, and a rate where allgather is not yet as fast as ports allow.
[[nodiscard]] Expected<WiringSearch> search_wiring(const Wiring& start,
                                                   const WiringSearchOptions& options = {});

}  // namespace forestcoll
