// The all-to-alls that ours is compared with: the orders of NCCL, and the literature's relays.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "forestcoll/alltoall.hpp"
#include "forestcoll/alltoall_routes.hpp"
#include "forestcoll/baseline.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll {

/// nccl-pairwise, nccl-pxn, hierarchical, bruck, direct; in this order. `supported` is empty: they
/// are all-to-alls.
[[nodiscard]] std::span<const BaselineInfo> alltoall_baselines();
/// Null where there is none of this name.
[[nodiscard]] const BaselineInfo* find_alltoall_baseline(std::string_view name);

/// Why there is none of this name: B06 an algorithm for trees alone, else B09.
[[nodiscard]] Diagnostic unknown_alltoall_baseline(std::string_view name);

/// The path of every pair's data in one of them, cut into k parts. What it says is where data stops
/// on its way from GPU to GPU, and in which round; between two stops the parts take paths of the
/// fewest links, of these the widest, of these those taken least so far. Where no switches join two
/// stops, the GPUs between them relay. Each docstring in src/baseline/alltoall says where it
/// differs from what was published. The rates of the result are 0, as are its rounds where the
/// algorithm has none of its own: see `complete_routes`.
/// REQUIRES: `network` is the topology's, the demand is of its ranks, k ≥ 1.
/// Errors: B02 boxes of different sizes; B04 (limit) more parts than `most_parts`; B06 an algorithm
/// for trees alone; B09 no such algorithm.
/// Cost: O(ranks · k · m) for the searches, and O(n) for every part.
[[nodiscard]] Expected<AlltoallRoutes> make_alltoall_baseline(std::string_view name,
                                                              const Topology& topology,
                                                              const Network& network,
                                                              const Demand& demand, std::int64_t k,
                                                              std::int64_t most_parts);

}  // namespace forestcoll
