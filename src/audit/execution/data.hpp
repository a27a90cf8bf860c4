// Which chunks of memory hold the same data at some time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "audit/common/memory_map.hpp"
#include "audit/execution/execution.hpp"

namespace forestcoll::audit {

/// Chunks of memory that operations and messages join are one *datum*.
class Data {
 public:
  Data(const Execution& execution, const MemoryMap& memory);

  /// One chunk for all that are joined, as `MemoryMap::locate` numbers it.
  [[nodiscard]] std::uint32_t of(std::size_t location) {
    auto at = static_cast<std::uint32_t>(location);
    while (joined_[at] != at) at = joined_[at] = joined_[joined_[at]];
    return at;
  }

  /// Calls visit(location) for a chunk of every datum that the operation accesses.
  template <class Visit>
  void for_each(const Access& access, Visit&& visit) const {
    const std::size_t operands = access.pairwise ? access.reads.size() : 1;
    for (std::size_t o = 0; o < operands; ++o) {
      const std::size_t first = place(access, o);
      for (std::size_t i = 0; i < static_cast<std::size_t>(access.count); ++i) visit(first + i);
    }
  }

 private:
  [[nodiscard]] std::size_t locate(const Operand& part) const {
    return memory_.locate(part.rank, part.buffer, part.offset);
  }
  // The first chunk that it reads, or else writes. All others of its operation are joined with it.
  [[nodiscard]] std::size_t place(const Access& access, std::size_t operand = 0) const {
    return locate(access.reads.empty() ? access.writes[operand] : access.reads[operand]);
  }
  void join_operands(const Access& access);
  void join(std::size_t a, std::size_t b, std::int64_t count);

  const MemoryMap& memory_;
  std::vector<std::uint32_t> joined_;
};

}  // namespace forestcoll::audit
