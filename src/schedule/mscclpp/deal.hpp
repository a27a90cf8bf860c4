// Which threadblock serves which parts of trees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "schedule/mscclpp/blocks.hpp"

namespace forestcoll::schedule {

/// Lists of numbers of segments, those of each of as many chunks and for one threadblock of every
/// GPU: up to `threadblocks`, each number of chunks its share of them. Symmetric ranks have
/// symmetric lists, unless some threadblock had much more to do for it. Cost: O(hops) for each
/// divisor of the symmetry's order.
[[nodiscard]] std::vector<std::vector<std::int32_t>> deal(const PlanContext& context,
                                                          std::size_t threadblocks);

}  // namespace forestcoll::schedule
