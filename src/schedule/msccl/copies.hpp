// Which threadblocks copy what a rank owns into its output.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/root_chunks.hpp"

namespace forestcoll::schedule {

/// What a threadblock has to do besides.
struct BlockLoad {
  std::int64_t chunks = 0;        ///< that it moves
  std::int64_t largest_lane = 0;  ///< those of its lane that moves more
  std::int64_t steps = 0;         ///< at most
};

struct CopyLimits {
  std::int64_t max_steps = 64;  ///< of a threadblock
  std::int64_t max_count = 71;  ///< chunks of a step
  std::int64_t spare = 0;       ///< further threadblocks that may be made
  std::int64_t elements = 0;    ///< of XML that are left
};

struct CopyShare {
  std::size_t threadblock = 0;  ///< from `loads.size()` on: one more
  ChunkRange range;
};

/// The chunks of `own`, in order, in shares of threadblocks. One threadblock would copy slower than
/// several send. So there are as many of their own for copies as keep up with the busiest lane; are
/// there too few to spare, those with the least to do share. A share ends only where `ends` says,
/// in ascending order, or anywhere if that is empty. Where there is no room at all, there are more
/// threadblocks than may be. Cost: O(threadblocks · log).
[[nodiscard]] std::vector<CopyShare> share_copies(ChunkRange own,
                                                  const std::vector<BlockLoad>& loads,
                                                  const CopyLimits& limits,
                                                  const std::vector<std::int64_t>& ends);

}  // namespace forestcoll::schedule
