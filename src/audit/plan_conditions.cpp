#include "audit/plan_conditions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "audit/plan_names.hpp"

namespace forestcoll::audit {
namespace {

constexpr std::uint64_t kOffsets = UINT32_MAX;  // the executor's, in bytes

template <class Predicate>
bool any_operation(const PlanFile& plan, Predicate predicate) {
  for (const PlanGpu& gpu : plan.gpus) {
    for (const PlanThreadblock& tb : gpu.threadblocks) {
      if (std::any_of(tb.ops.begin(), tb.ops.end(), predicate)) return true;
    }
  }
  return false;
}

// The executor sends from the beginning of the allocation that holds the buffer, and scratch is one
// of its own.
bool sends_from_the_callers(const PlanOp& op) {
  return is_put(op.kind) && op.channel_kind == ChannelKind::port &&
         std::any_of(op.sources.begin(), op.sources.end(), [](const PlanSlice& slice) {
           return slice.is_local && slice.buffer != Buffer::scratch;
         });
}

}  // namespace

std::uint64_t largest_message(const PlanFile& plan) {
  std::int64_t most = 1;  // chunks of a buffer
  for (const PlanGpu& gpu : plan.gpus) {
    most = std::max({most, gpu.input_chunks, gpu.output_chunks, gpu.scratch_chunks});
  }
  const auto alignment = static_cast<std::uint64_t>(plan.alignment);
  const std::uint64_t chunk = kOffsets / static_cast<std::uint64_t>(most) / alignment * alignment;
  return chunk * static_cast<std::uint64_t>(message_chunks(plan));
}

std::vector<std::string> plan_conditions(const PlanFile& plan) {
  std::vector<std::string> conditions;
  if (const std::uint64_t largest = largest_message(plan); plan.max_size > largest) {
    conditions.push_back(fmt::format(
        "messages have at most {} bytes: beyond, offsets of 32 bits wrap in the executor, and {} "
        "does not keep larger ones from it",
        largest,
        plan.max_size == UINT64_MAX ? "the plan, without a max_message_size,"
                                    : fmt::format("max_message_size {}", plan.max_size)));
  }
  if (any_operation(plan, sends_from_the_callers)) {
    conditions.push_back(
        "input and output lie at the beginning of their allocations, as a framework's tensors may "
        "not: port channels send from there");
  }
  if (any_operation(plan, [](const PlanOp& op) { return op.kind == PlanKind::put_signal_flush; })) {
    conditions.push_back(
        "MSCCL++ is 0.10 or later: up to 0.9 a pwsf puts and signals, and flushes nothing");
  }
  return conditions;
}

}  // namespace forestcoll::audit
