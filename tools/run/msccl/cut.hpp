// How a call's data is cut: passes over the program, operations, slices.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "audit/common/program.hpp"

namespace forestcoll::run {

/// As the runtimes cut it. Every pass over the program carries up to `pass` elements of each chunk.
/// A step of several chunks is split into operations of `op_chunks` of them, more than one only
/// where a chunk goes through in one pass, and an operation into `op_slices` slices, of which the
/// last may be empty: a slice is one message. `slots` slices of a connection are on their way at
/// most, empty ones counted.
struct Cut {
  std::int64_t chunk = 1;
  std::int64_t pass = 1;
  std::int64_t passes = 1;
  std::int32_t op_chunks = 1;
  std::int32_t op_slices = 1;
  std::int32_t slots = 2;
  std::int64_t slot = 1;         ///< elements that a slot holds
  std::int64_t least_slice = 1;  ///< an operation of fewer elements is one slice

  /// Elements of each chunk in a pass.
  [[nodiscard]] std::int64_t in_pass(std::int64_t pass_number) const;
  /// Elements of the largest message of a step of so many chunks.
  [[nodiscard]] std::int64_t largest_slice(std::int32_t count) const {
    return slice_of(in_pass(0) * std::min(op_chunks, count));
  }
  /// Elements of a slice of an operation of so many.
  [[nodiscard]] std::int64_t slice_of(std::int64_t elements) const;
};

/// Of the runtimes' FIFO of eight steps a Simple operation takes four, in two slices; one of LL or
/// LL128 takes one. `buffer_bytes` is NCCL_BUFFSIZE, with which what one operation of LL and LL128
/// carries is scaled, too. REQUIRES: chunk > 0.
[[nodiscard]] Cut cut_call(std::string_view protocol, std::int64_t chunk, std::size_t element_bytes,
                           std::int64_t buffer_bytes);

/// The same with every operation one slice, and at either end as many as all slots held before.
[[nodiscard]] Cut in_whole_operations(Cut cut);

}  // namespace forestcoll::run
