// What a wiring or a cluster is worth: exact optima of collectives, figures as a graph, failures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/generate.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll {

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

// What a cluster is worth: exact optima, and what its dearest failure leaves.

/// GB/s of algbw.
struct ClusterFigures {
  Ratio allgather;  ///< exact
  Ratio allreduce;  ///< reduce-scatter, then allgather; exact
  ProvedInterval alltoall;
  Ratio after_failure;  ///< allgather without the switch whose failure costs most; 0: it cuts
                        ///< GPUs off
  std::string failed;   ///< that switch, an id of the topology
};

/// Only switches fail, one of each kind that colour refinement tells apart: a cable takes no more
/// with it than the switch at its end. What is inside of boxes is the same in all shapes and does
/// not fail. Errors: those of the topology, E14. Cost: a rate per kind of switch, and one more each
/// way.
[[nodiscard]] Expected<ClusterFigures> cluster_figures(const ClusterShape& shape);

}  // namespace forestcoll
