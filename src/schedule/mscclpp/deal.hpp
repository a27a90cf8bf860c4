// Which threadblock serves which parts of trees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "schedule/mscclpp/blocks.hpp"

namespace forestcoll::schedule {

/// Numbers of segments, those of a list of as many chunks and for one threadblock of every GPU.
struct Dealt {
  std::vector<std::vector<std::int32_t>> lists;
  bool are_symmetric = true;  ///< the symmetry exchanges lists as wholes
};

/// Up to `threadblocks` lists, for each number of chunks its share of them. Symmetric ranks have
/// symmetric lists, unless some threadblock had much more to do for it. Cost: O(hops) for each
/// divisor of the symmetry's order.
[[nodiscard]] Dealt deal(const PlanContext& context, std::size_t threadblocks);

}  // namespace forestcoll::schedule
