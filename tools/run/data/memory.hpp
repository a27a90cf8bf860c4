// The buffers of one rank, in place or out of place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "audit/common/memory_map.hpp"
#include "audit/common/program.hpp"

namespace forestcoll::run {

using audit::Buffer;
using audit::Pattern;
using audit::Placement;

/// What one call moves, in elements.
struct CallShape {
  Pattern pattern = Pattern::allreduce;
  Placement placement = Placement::out_of_place;
  bool is_idle = false;  ///< in no group: whole buffers, which are left as they are
  std::int64_t ranks = 1;
  std::int64_t whole = 0;  ///< of the collective's buffer; a multiple of the ranks where divided
  const audit::OwnParts* parts = nullptr;  ///< the ranks' own parts, in chunks; null: equal ones
  std::int64_t chunk = 1;                  ///< of one of `parts`
  std::int64_t scratch = 0;                ///< of this rank
  std::size_t element_bytes = 1;

  /// Of one rank's part, where the pattern is divided; where parts are unequal, their mean.
  [[nodiscard]] std::int64_t part() const { return whole / ranks; }
  /// Where the part of a rank begins in the whole buffer, and how much it is.
  [[nodiscard]] std::int64_t begin(std::int64_t rank) const {
    return parts == nullptr ? rank * part() : parts->begin(static_cast<std::int32_t>(rank)) * chunk;
  }
  [[nodiscard]] std::int64_t part(std::int64_t rank) const {
    return parts == nullptr ? part() : parts->size(static_cast<std::int32_t>(rank)) * chunk;
  }
  /// Whose part an element of the whole buffer is in.
  [[nodiscard]] std::int64_t owner(std::int64_t element) const {
    return parts == nullptr ? element / part() : parts->owner(element / chunk, 0);
  }
  [[nodiscard]] std::int64_t input(std::int64_t rank) const {
    return audit::buffer_sizes(pattern, whole, part(rank)).input;
  }
  [[nodiscard]] std::int64_t output(std::int64_t rank) const {
    return audit::buffer_sizes(pattern, whole, part(rank)).output;
  }
};

/// In place, input and output are one buffer of the whole collective, of which the input of
/// allgather and gather, and the output of reduce_scatter and scatter, are the rank's own part, as
/// in the runtimes.
class Memory {
 public:
  Memory(const CallShape& shape, std::int64_t rank);

  [[nodiscard]] std::byte* at(Buffer buffer, std::int64_t element) {
    return base_[static_cast<std::size_t>(buffer)] +
           static_cast<std::size_t>(element) * element_bytes_;
  }
  [[nodiscard]] const std::byte* at(Buffer buffer, std::int64_t element) const {
    return const_cast<Memory*>(this)->at(buffer, element);  // NOLINT: the same address
  }
  /// Fills all three buffers with bytes that no right result has, for what is read unwritten.
  void poison();

 private:
  std::size_t element_bytes_;
  std::vector<std::byte> bytes_;
  std::byte* base_[3] = {};  // by Buffer
};

}  // namespace forestcoll::run
