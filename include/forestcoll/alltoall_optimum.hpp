// The highest rate of an all-to-all, or an interval around it, proved from both sides.
#pragma once

#include <cstddef>
#include <stop_token>

#include "forestcoll/alltoall.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/network.hpp"

namespace forestcoll {

struct AlltoallOptions {
  /// Stop where the rate that is reached is below the bound by no more than this fraction.
  double gap = 0.01;
  /// Variables beyond which the linear program gives way to the first-order method.
  std::size_t variables = 14'000;
  int threads = 1;            ///< the result does not depend on them
  std::stop_token stop = {};  ///< asks for the best interval so far
};

struct AlltoallStatistics {
  std::size_t sources = 0;    ///< after symmetry
  std::size_t variables = 0;  ///< of the linear program, or flows of the first-order method
  int iterations = 0;         ///< of the first-order method; 0 where it was not needed
};

struct AlltoallOptimum {
  AlltoallProof proof;
  AlltoallStatistics statistics;
};

/// The best concurrent flow: the largest θ such that θ · demand can flow all at once, along any
/// paths through switches and ranks. It is a linear program; with one commodity per source
///   maximise θ such that  in_s(v) − out_s(v) = θ · demand(s, v) for all v ≠ s,  Σ_s f_s ≤ capacity
/// and its dual are lengths ℓ ≥ 0 with θ ≤ Σ capacity · ℓ / Σ demand · distance (Shahrokhi, Matula
/// 1990). What `network.weight` says does not matter.
///
/// Symmetries of the fabric (`find_symmetries`, and twins: ranks with the same neighbours) leave
/// one source per orbit, and colour refinement from that source leaves one variable per class of
/// arcs that look the same from it (Grohe, Kersting, Mladenov, Selman 2014): regular fabrics of any
/// size become a handful of variables. Programs are solved in floating point, and both answers are
/// rounded to fractions and proved by exact arithmetic on the whole fabric: the lengths by shortest
/// paths, the flows by adding up. Where they meet, the optimum is exact.
///
/// Beyond `options.variables`, and where the linear program fails, a primal-dual hybrid gradient
/// method (Chambolle, Pock 2011; restarts and weights as in PDLP, Applegate et al. 2021) on the
/// same program gives lengths and flows, which are proved the same way: then the result is an
/// interval.
///
/// REQUIRES: at least two compute nodes, all of which reach one another; as many ranks in the
/// demand. Errors: A02 where nothing is to be sent, E14 (limit) where the rate does not fit 64
/// bits. Cost: that of `find_symmetries`, and of a simplex; or O(sources · arcs) per iteration of
/// the first-order method.
[[nodiscard]] Expected<AlltoallOptimum> alltoall_optimum(const Network& network,
                                                         const Demand& demand,
                                                         const AlltoallOptions& options = {});

}  // namespace forestcoll
