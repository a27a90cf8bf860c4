// Quick positive answers to "is this over before that begins?", among operations of the same data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "audit/common/memory_map.hpp"
#include "audit/execution/execution.hpp"

namespace forestcoll::audit {

/// Two operations that access the same chunk of memory.
struct AccessPair {
  std::int32_t before = -1, after = -1;
  std::size_t location = 0;  ///< as `MemoryMap::locate` numbers it
};

/// For each pair, whether `before` is seen to be over before `after` begins, looking at no other
/// events than those of operations that the data of the chunk goes through on any rank. A yes is
/// exact, a no only means "not this way".
/// Cost: O(accesses + Σ events of a datum · (log + pairs about it / 64)), and sorting.
[[nodiscard]] std::vector<bool> ordered_by_data(const Execution& execution, const MemoryMap& memory,
                                                std::span<const AccessPair> pairs);

}  // namespace forestcoll::audit
