// Where the chunks of the three buffers lie, in place and out of place.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "audit/common/program.hpp"

namespace forestcoll::audit {

enum class Placement { in_place, out_of_place };

/// Gives every chunk of a rank's memory a number. Chunks of two buffers that are the same memory
/// have the same number: in place, input and output are one buffer of the whole collective, of
/// which the input of allgather and gather, and the output of reduce_scatter and scatter, are the
/// rank's own part.
class MemoryMap {
 public:
  /// REQUIRES: check_structure found nothing that blocks.
  MemoryMap(const Program& program, Placement placement);

  [[nodiscard]] Placement placement() const { return placement_; }
  /// Chunks of all ranks before this one.
  [[nodiscard]] std::size_t base(std::int32_t rank) const {
    return base_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] std::size_t total() const { return base_.back(); }
  /// The number of a chunk, among those of all ranks.
  [[nodiscard]] std::size_t locate(std::int32_t rank, Buffer buffer, std::int64_t offset) const;
  /// "output chunk 7", or "output chunk 3, slice 1 of 2": as the step itself calls it.
  [[nodiscard]] std::string name(Buffer buffer, std::int64_t offset) const;
  /// " (in place)" or " (out of place)", for findings.
  [[nodiscard]] std::string_view mode_text() const {
    return placement_ == Placement::in_place ? " (in place)" : " (out of place)";
  }
  /// How many of the program's chunks make one of the file's.
  [[nodiscard]] std::int64_t slices() const { return slices_; }

  [[nodiscard]] std::int64_t input_chunks(std::int32_t rank) const {
    return input_is_part_ ? parts_.size(rank) : whole_;
  }
  [[nodiscard]] std::int64_t output_chunks(std::int32_t rank) const {
    return output_is_part_ ? parts_.size(rank) : whole_;
  }
  /// The ranks' own parts of the whole buffer (where an input or output is a part).
  [[nodiscard]] const OwnParts& parts() const { return parts_; }

 private:
  Placement placement_;
  OwnParts parts_;
  std::int64_t slices_;
  std::int64_t whole_;  // chunks of the whole buffer
  bool input_is_part_, output_is_part_;
  std::vector<std::size_t> base_;
};

}  // namespace forestcoll::audit
