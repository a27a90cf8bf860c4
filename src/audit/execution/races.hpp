// Accesses to one chunk that nothing orders.
#pragma once

#include <cstdint>
#include <vector>

#include "audit/common/findings.hpp"
#include "audit/common/memory_map.hpp"
#include "audit/execution/execution.hpp"

namespace forestcoll::audit {

/// Two operations that access one chunk, at least one of them writing, in an order that nothing
/// fixes. `before` is the first of them in the linear order at hand.
struct Race {
  std::int32_t before = -1, after = -1;
  ChunkRef chunk;
  bool before_writes = false, after_writes = false;
  bool in_time = false;  ///< ordered in time, but what `before` writes may still be under way
};

/// One operation that accesses a chunk twice: its threads move chunks in any order.
struct Overlap {
  std::int32_t operation = -1;
  ChunkRef written;
  std::size_t shift = 0;       ///< chunks between its source and its destination, or
  bool of_two_writes = false;  ///< two destinations overlap
};

struct Races {
  std::vector<Race> races;  ///< by `after`, in time
  std::vector<Overlap> overlaps;
};

/// Exact: what is found can happen at some message size, what is not found cannot. Packets are left
/// out, as their flags order them. Adds a finding if there are too many accesses to compare.
/// Cost: as `ordered_by_data`, and as `happens_before` for what that leaves open.
[[nodiscard]] Races find_races(const Execution& execution, const MemoryMap& memory,
                               Findings& findings);

}  // namespace forestcoll::audit
