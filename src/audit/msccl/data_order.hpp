// Quick positive answers to "does this step come before that one?", among steps of the same data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "audit/common/memory_map.hpp"
#include "audit/msccl/step_graph.hpp"

namespace forestcoll::audit {

/// Two steps that access the same chunk of memory.
struct AccessPair {
  std::int32_t before = -1, after = -1;
  std::size_t location = 0;  ///< as `MemoryMap::locate` numbers it
};

/// For each pair, whether `before` is seen to end before any of `after` begins, looking at no other
/// steps than those that the data of the chunk goes through on any rank. A yes is exact, a no only
/// means "not this way". `order` is a linear order of happens-before.
/// Cost: O(accesses + Σ steps of a datum · (log + pairs about it / 64)), and sorting.
[[nodiscard]] std::vector<bool> ordered_by_data(const StepGraph& graph, const MemoryMap& memory,
                                                std::span<const std::int32_t> order,
                                                std::span<const AccessPair> pairs);

}  // namespace forestcoll::audit
