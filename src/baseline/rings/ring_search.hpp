// NCCL's search for rings in one box.
#pragma once

#include <cstdint>
#include <vector>

#include "baseline/path_finder.hpp"
#include "forestcoll/baseline.hpp"
#include "forestcoll/network.hpp"

namespace forestcoll::baseline {

/// Rings of one speed: each a cyclic order of positions in the box.
struct RingOrders {
  std::vector<std::vector<std::int32_t>> orders;  ///< empty: none found
  Ratio speed;                                    ///< GB/s of each
};

/// The set of rings whose number times speed is largest, as NCCL searches for it: for each speed,
/// fastest first, one Hamiltonian cycle over and over, then all orders in depth first, each for a
/// bounded number of steps. Neighbours come by bandwidth, then by hops, then in cyclic order;
/// through switches a rank sees only the ranks next to it in rank order. With `through_gpus` a
/// speed is tried again with ways of two links through another GPU of the box, where there is none
/// of one. So this is what NCCL finds, not what is best: on a torus of 5 × 5 it loses half against
/// a decomposition.
///
/// Differs from NCCL (src/graph/search.cc of NVIDIA/nccl) in its speeds: bandwidth of a link / j
/// for j = 1 … 8, or NCCL's table for GPUs before Hopper with `nccl_constants`. PCIe, CPUs and
/// NUMA domains are links and switches like all others.
/// Cost: 16,640 steps of the search for each speed (twice with `through_gpus`), the last ones
/// spared where the box is full.
[[nodiscard]] RingOrders search_rings(const Network& network, PathFinder& finder,
                                      const std::vector<Rank>& box, const BaselineOptions& options);

/// A way of two links through another rank of the box; empty: there is none.
[[nodiscard]] Path through_gpu(const Network& network, PathFinder& finder,
                               const std::vector<Rank>& box, Rank from, Rank to);

}  // namespace forestcoll::baseline
