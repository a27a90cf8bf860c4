// As many rings as the links of a box hold, by exact searches for one ring at a time.
#pragma once

#include <vector>

#include "baseline/rings/ring_search.hpp"
#include "forestcoll/network.hpp"

namespace forestcoll::baseline {

/// What the links of a box carry from position to position, without switches; 0: no link.
struct BoxLinks {
  std::size_t gpus = 0;
  std::vector<Capacity> capacity;  ///< row by row
  [[nodiscard]] Capacity operator()(std::size_t from, std::size_t to) const {
    return capacity[from * gpus + to];
  }
};

/// The most GPUs of a box for which rings are packed.
inline constexpr std::size_t kMostPackedGpus = 16;

/// Rings of one speed, in units of capacity, that the links carry all at once, at most `most`:
/// those of the largest sum of speeds that is found. None where there is no Hamiltonian cycle, or
/// the box has fewer than 3 or more than `kMostPackedGpus` GPUs. Equal input gives equal rings.
/// Cost: some 10^9 steps at most.
[[nodiscard]] RingOrders pack_rings(const BoxLinks& links, std::size_t most);

}  // namespace forestcoll::baseline
