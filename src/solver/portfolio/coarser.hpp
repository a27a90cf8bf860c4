// Fabrics with shorter numbers.
#pragma once

#include <optional>

#include "forestcoll/network.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::solver {

/// All capacities rounded down to multiples of one grid, so coarse that no cut with compute nodes
/// on both sides loses more than 1/2^bits of it; arcs of less than that are left out. `least_cut`:
/// no such cut has less, in the network's units. Nothing where the numbers stay as long as they
/// are. Cost: O(m).
struct Coarser {
  Network network;
  Ratio grid;  ///< GB/s
};
[[nodiscard]] std::optional<Coarser> coarser(const Network& network, const Ratio& least_cut,
                                             int bits);

}  // namespace forestcoll::solver
