// All-to-all as a schedule before any format: which way every part of the data takes, and when.
#pragma once

#include <cstdint>
#include <vector>

#include "forestcoll/id.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll {

/// A way for some of the parts that a rank's data for another is cut into. Between two compute
/// nodes that follow one another on it is a leg: the first sends, the second receives, and keeps
/// the data until the next leg.
struct AlltoallPath {
  Rank src, dst;
  std::int64_t parts = 1;                 ///< of the pair's k
  std::vector<NodeId> nodes = {};         ///< in order, both ends included
  std::vector<std::int32_t> rounds = {};  ///< by leg, ascending; empty where none were made
};

/// Ways for all of a demand. INVARIANT: the paths of a pair follow one another, and have k parts
/// together; pairs are in the order of (src, dst), without those that have nothing to send.
struct AlltoallRoutes {
  std::int64_t k = 1;
  std::vector<AlltoallPath> paths;
  /// Rounds, numbered from 0: what all legs of one take together is what its busiest link takes.
  std::int32_t rounds = 0;
  Ratio rate;            ///< GB/s per unit of demand: all links at once, held up by the busiest
  Ratio rate_in_rounds;  ///< the same where every round waits for the one before; 0: no rounds
};

}  // namespace forestcoll
