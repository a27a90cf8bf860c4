// Where chunks live in the buffers of a rank.
#pragma once

#include <cstdint>

#include "forestcoll/collective.hpp"
#include "forestcoll/schedule.hpp"

namespace forestcoll::schedule {

/// The in-place addressing of a collective: N·k chunks (k for broadcast and reduce), of which rank
/// r owns r·k … r·k + k − 1.
///
/// In place, allgather's input is the rank's own block of the output; it is addressed as input, so
/// that the input has the size that runtimes expect. Reduce-scatter's output is the rank's own
/// block of the input, in which all work is done. For the other collectives input and output are
/// the same memory, addressed as input.
class InPlaceAddressing {
 public:
  InPlaceAddressing(Collective collective, std::int64_t ranks, std::int64_t k)
      : collective_(collective), ranks_(ranks), k_(k) {}

  /// Chunks of the whole collective.
  [[nodiscard]] std::int64_t chunks() const { return is_rooted(collective_) ? k_ : ranks_ * k_; }
  [[nodiscard]] std::int64_t input_chunks() const {
    return collective_ == Collective::allgather ? k_ : chunks();
  }
  [[nodiscard]] std::int64_t output_chunks() const {
    return collective_ == Collective::reduce_scatter ? k_ : chunks();
  }
  /// Where `rank` holds `chunk`. A range within one block is contiguous.
  [[nodiscard]] Slice slice(Rank rank, std::int64_t chunk) const {
    if (collective_ != Collective::allgather) return {Buffer::input, chunk};
    const std::int64_t own = rank.value * k_;
    if (chunk >= own && chunk < own + k_) return {Buffer::input, chunk - own};
    return {Buffer::output, chunk};
  }

 private:
  Collective collective_;
  std::int64_t ranks_, k_;
};

}  // namespace forestcoll::schedule
