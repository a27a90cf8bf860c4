#include "audit/execution/data.hpp"

#include <numeric>

namespace forestcoll::audit {

Data::Data(const Execution& execution, const MemoryMap& memory)
    : memory_(memory), joined_(memory.total()) {
  std::iota(joined_.begin(), joined_.end(), std::uint32_t{0});
  std::vector<std::uint32_t> places(static_cast<std::size_t>(execution.count));
  Access access;
  for (const std::int32_t operation : execution.operations) {
    execution.access(operation, access);
    join_operands(access);
    const std::size_t own = place(access);
    places[static_cast<std::size_t>(operation)] = static_cast<std::uint32_t>(own);
    if (access.sender < 0) continue;
    join(own, places[static_cast<std::size_t>(access.sender)], access.count);
  }
}

void Data::join_operands(const Access& access) {
  if (access.pairwise) {
    for (std::size_t i = 0; i < access.writes.size(); ++i) {
      join(locate(access.reads[i]), locate(access.writes[i]), access.count);
    }
    return;
  }
  const std::size_t all = place(access);
  for (const Operand& read : access.reads) join(all, locate(read), access.count);
  for (const Operand& write : access.writes) join(all, locate(write), access.count);
}

void Data::join(std::size_t a, std::size_t b, std::int64_t count) {
  for (std::int64_t i = 0; i < count && a != b; ++i) joined_[of(a++)] = of(b++);
}

}  // namespace forestcoll::audit
