#include "audit/common/memory_map.hpp"

#include <fmt/format.h>

namespace forestcoll::audit {

MemoryMap::MemoryMap(const Program& program, Placement placement)
    : placement_(placement),
      parts_(program),
      slices_(program.slices),
      whole_(program.chunks),
      input_is_part_(input_is_part(program.pattern)),
      output_is_part_(output_is_part(program.pattern)) {
  base_.push_back(0);
  for (const Gpu& gpu : program.gpus) {
    const std::int64_t buffers =
        placement == Placement::in_place ? whole_ : input_chunks(gpu.id) + output_chunks(gpu.id);
    base_.push_back(base_.back() + static_cast<std::size_t>(buffers + gpu.scratch_chunks));
  }
}

std::size_t MemoryMap::locate(std::int32_t rank, Buffer buffer, std::int64_t offset) const {
  std::int64_t at = offset;
  if (placement_ == Placement::in_place) {
    if (buffer == Buffer::scratch) at += whole_;
    if (buffer == Buffer::input && input_is_part_) at += parts_.begin(rank);
    if (buffer == Buffer::output && output_is_part_) at += parts_.begin(rank);
  } else {
    if (buffer != Buffer::input) at += input_chunks(rank);
    if (buffer == Buffer::scratch) at += output_chunks(rank);
  }
  return base(rank) + static_cast<std::size_t>(at);
}

std::string MemoryMap::name(Buffer buffer, std::int64_t offset) const {
  const std::string chunk = fmt::format("{} chunk {}", to_string(buffer), offset / slices_);
  return slices_ == 1 ? chunk : fmt::format("{}, slice {} of {}", chunk, offset % slices_, slices_);
}

}  // namespace forestcoll::audit
