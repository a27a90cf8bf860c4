// A slow packer by the textbook, to compare the solver with. It shares no code with it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "forestcoll/network.hpp"

namespace forestcoll::stress {

/// A spanning out-tree on the ranks after every switch is split off.
struct ReferenceTree {
  std::size_t root = 0;
  std::int64_t multiplicity = 0;
  std::vector<std::size_t> parent;  ///< by rank; the root's own at the root
};

struct ReferencePacking {
  std::int64_t k = 0;
  std::int64_t scale = 0;                           ///< U; whole, as the capacities' gcd is 1
  std::vector<std::vector<std::int64_t>> capacity;  ///< between ranks, switches split off
  std::vector<ReferenceTree> trees;
};

/// k trees per rank, k the least at which the optimal rate is reached. The rate by bisection, the
/// switches one pair of arcs at a time (Bang-Jensen, Frank and Jackson 1995), the trees edge by
/// edge with a maximum flow for each candidate (Bérczi and Frank 2010), all flows by LEMON.
/// Nothing where it gets stuck, which for balanced switches it never should.
/// Cost: up to deg² · N · log(capacity) flows per switch, and N² or more of them for the trees.
[[nodiscard]] std::optional<ReferencePacking> reference_pack(const Network& network);

/// Every tree spans, every rank roots k of them, and no pair of ranks carries more than its
/// capacity.
[[nodiscard]] bool is_complete(const ReferencePacking& packing);

}  // namespace forestcoll::stress
