#include "schedule/mscclpp/messages_bound.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "forestcoll/codes.hpp"
#include "forestcoll/forest.hpp"

namespace forestcoll::schedule {
namespace {

constexpr std::int64_t kOffsets = UINT32_MAX;  // the executor's, in bytes of a buffer
constexpr std::int64_t kDefaultMaxBytes = std::int64_t{1} << 31;

}  // namespace

std::int64_t largest_message(const ExecutionPlan& plan) {
  // Packets are as long again as their data, and lie in one of two halves.
  const std::int64_t room = plan.packets ? 4 : 1;
  std::int64_t whole = 1, most = 1;  // chunks
  for (const PlanGpu& gpu : plan.gpus) {
    whole = std::max({whole, gpu.input_chunks, gpu.output_chunks});
    most = std::max({most, whole, room * gpu.scratch_chunks});
  }
  return kOffsets / most / kPlanAlignment * kPlanAlignment * whole;
}

std::int64_t max_bytes_of(const PlanOptions& options, const ExecutionPlan& plan) {
  return options.max_bytes.value_or(std::min(kDefaultMaxBytes, largest_message(plan)));
}

Expected<void> refuse_long_messages(const ExecutionPlan& plan) {
  if (plan.min_bytes > kMostLeastBytes) {
    return make_error(Code::T04,
                      fmt::format("messages from {} bytes on: MSCCL++ reads the least in 32 bits",
                                  plan.min_bytes),
                      fmt::format("begin at {} bytes or less", kMostLeastBytes));
  }
  const std::int64_t largest = largest_message(plan);
  if (plan.max_bytes <= largest) return {};
  return make_error(Code::T04,
                    fmt::format("messages of up to {} bytes, but with this plan the offsets of "
                                "MSCCL++, of 32 bits, reach {}",
                                plan.max_bytes, largest),
                    fmt::format("use `max_bytes={}`", largest));
}

}  // namespace forestcoll::schedule
