// What a plan's operations read and write on one rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "run/data/memory.hpp"
#include "run/plan/task.hpp"

namespace forestcoll::run {

/// How a call's bytes lie in a plan's chunks.
struct PlanCut {
  std::int64_t chunk_bytes = 0;
  std::int64_t chunk_elements = 0;
  std::int64_t scratch_bytes = 0;  ///< of this rank
  std::int64_t grain = 16;         ///< bytes of a packet's data
};

/// Bytes of every operand of an operation: all, or those of a pipeline's round.
struct PlanExtent {
  std::int64_t begin = 0, bytes = 0;
};

/// The memory of a call, and packets: these lie apart from other scratch, with the number of the
/// call in which they were written as their flag.
class PlanBuffers {
 public:
  explicit PlanBuffers(const PlanCut& cut);
  /// REQUIRES: `memory` stays until the next call.
  void begin_call(Memory& memory, std::int64_t call);
  [[nodiscard]] std::int64_t call() const { return call_; }

  /// Where an operand lies. REQUIRES: it is of this rank.
  [[nodiscard]] std::byte* at(const PlanSpan& span, const PlanExtent& extent);
  /// A byte of a buffer.
  [[nodiscard]] std::byte* at(Buffer buffer, std::int64_t byte) {
    return memory_->at(buffer, 0) + byte;
  }
  [[nodiscard]] std::int64_t begin_of(const PlanSpan& span, const PlanExtent& extent) const {
    return span.chunk * cut_.chunk_bytes + extent.begin;
  }
  /// Whether all packets of an operand are of this call.
  [[nodiscard]] bool has_packets(const PlanSpan& span, const PlanExtent& extent) const;
  void put_packets(std::int64_t begin, std::int64_t bytes, const std::byte* data,
                   std::int64_t flag);

 private:
  PlanCut cut_;
  Memory* memory_ = nullptr;
  std::int64_t call_ = 0;
  std::vector<std::byte> packets_;
  std::vector<std::int64_t> flags_;  // of each grain of them
};

}  // namespace forestcoll::run
