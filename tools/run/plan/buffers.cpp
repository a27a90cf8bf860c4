#include "run/plan/buffers.hpp"

#include <cstring>

namespace forestcoll::run {

PlanBuffers::PlanBuffers(const PlanCut& cut)
    : cut_(cut),
      packets_(static_cast<std::size_t>(cut.scratch_bytes)),
      flags_(static_cast<std::size_t>((cut.scratch_bytes + cut.grain - 1) / cut.grain)) {}

void PlanBuffers::begin_call(Memory& memory, std::int64_t call) {
  memory_ = &memory;
  call_ = call;
}

std::byte* PlanBuffers::at(const PlanSpan& span, const PlanExtent& extent) {
  if (span.packets) return packets_.data() + begin_of(span, extent);
  return memory_->at(span.buffer, span.chunk * cut_.chunk_elements) + extent.begin;
}

bool PlanBuffers::has_packets(const PlanSpan& span, const PlanExtent& extent) const {
  const std::int64_t begin = begin_of(span, extent);
  for (std::int64_t at = begin / cut_.grain; at * cut_.grain < begin + extent.bytes; ++at) {
    if (flags_[static_cast<std::size_t>(at)] != call_) return false;
  }
  return true;
}

void PlanBuffers::put_packets(std::int64_t begin, std::int64_t bytes, const std::byte* data,
                              std::int64_t flag) {
  std::memmove(packets_.data() + begin, data, static_cast<std::size_t>(bytes));
  for (std::int64_t at = begin / cut_.grain; at * cut_.grain < begin + bytes; ++at) {
    flags_[static_cast<std::size_t>(at)] = flag;
  }
}

}  // namespace forestcoll::run
