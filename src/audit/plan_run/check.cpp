#include "audit/plan_run/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "audit/execution/interpret.hpp"
#include "audit/plan/conditions.hpp"
#include "audit/plan/kinds.hpp"
#include "audit/plan_run/checks.hpp"
#include "audit/plan_run/graph.hpp"

namespace forestcoll::audit {
namespace {

constexpr std::int64_t kMaxAccesses = 100'000'000;  // of chunks, by all operations
constexpr std::int64_t kMaxPackets = 4'000'000;     // chunks of packets, likewise

// An operand on a switch is one of every rank of its group.
bool is_too_large(const PlanFile& plan) {
  std::int64_t accesses = 0, packets = 0;
  const auto operands = [&](const std::vector<PlanSlice>& slices) {
    const bool switched = !slices.empty() && slices.front().is_switched;
    return std::ssize(slices) * (switched ? std::ssize(plan.gpus) : 1);
  };
  for (const PlanGpu& gpu : plan.gpus) {
    for (const PlanThreadblock& tb : gpu.threadblocks) {
      for (const PlanOp& op : tb.ops) {
        if (op.sources.empty()) continue;
        accesses += (operands(op.sources) + operands(op.destinations)) * op.sources[0].size;
        if (has_packets(op.kind)) packets += std::ssize(op.destinations) * op.sources[0].size;
        if (accesses > kMaxAccesses || packets > kMaxPackets) return true;
      }
    }
  }
  return false;
}

void note_transfers(const Execution& execution, PlanRun& run) {
  Access access;
  for (const std::int32_t n : execution.operations) {
    execution.access(n, access);
    const auto note = [&](const Operand& chunk, std::int32_t from, std::int32_t to) {
      if (chunk.rank != access.rank && !chunk.switched) run.transfers[{from, to}] += access.count;
    };
    for (const Operand& chunk : access.reads) note(chunk, chunk.rank, access.rank);
    for (const Operand& chunk : access.writes) note(chunk, access.rank, chunk.rank);
    for (GroupAccess& through : group_accesses_of(access, access.rank)) {
      run.group_accesses[std::move(through)] += access.count;
    }
  }
}

}  // namespace

std::optional<PlanRun> check_plan(const PlanFile& plan, const Program& program,
                                  const MemoryMap& memory, Findings& findings) {
  if (is_too_large(plan)) {
    findings.add(Rule::too_large, Place{},
                 fmt::format("more than {} accesses to chunks, or {} to chunks of packets",
                             kMaxAccesses, kMaxPackets),
                 "use larger chunks");
    return std::nullopt;
  }
  const PlanGraph graph = build_plan_graph(plan, memory, true, findings);
  if (findings.blocked()) return std::nullopt;
  const auto order = order_plan(plan, graph, findings);
  if (findings.blocked()) return std::nullopt;
  const Execution execution = plan_execution(plan, graph, order);
  check_lifetimes(graph, execution, memory, findings);
  check_plan_races(plan, graph, execution, memory, findings);
  check_packet_reuse(plan, graph, execution, memory, findings);
  check_double_scratch(plan, graph, execution, memory, findings);
  PlanRun run;
  const auto place_of = [&](std::int32_t n) { return graph.place(n); };
  run.results = interpret(program, execution, memory, place_of, findings);
  note_transfers(execution, run);
  return run;
}

void put_usable(const PlanFile& plan, Findings& findings, Verdict& verdict) {
  verdict.usable_counts = "none";
  if (plan.min_size > plan.max_size) {
    findings.add(Rule::never_selected, Place{},
                 fmt::format("min_message_size {} is above max_message_size {}", plan.min_size,
                             plan.max_size));
    return;
  }
  if (plan.min_size > INT32_MAX) {
    findings.add(
        Rule::never_selected, Place{},
        fmt::format("min_message_size {}: MSCCL++ reads it in 32 bits with a sign", plan.min_size),
        "lower it to 2147483647");
    return;
  }
  const auto unit = static_cast<std::uint64_t>(plan.alignment * message_chunks(plan));
  const std::uint64_t fewest = plan.min_size == 0 ? 1 : (plan.min_size - 1) / unit + 1;
  if (fewest > plan.max_size / unit) {
    findings.add(
        Rule::never_selected, Place{},
        fmt::format("no message of min_message_size {} to max_message_size {} is a "
                    "multiple of {} bytes: {} chunks, aligned to {}",
                    plan.min_size, plan.max_size, unit, message_chunks(plan), plan.alignment),
        "raise max_message_size or use fewer chunks");
    return;
  }
  const PlanGpu& first = plan.gpus.front();
  const bool alike = std::ranges::all_of(plan.gpus, [&](const PlanGpu& gpu) {
    return gpu.input_chunks == first.input_chunks && gpu.output_chunks == first.output_chunks;
  });
  const std::int64_t multiple =
      plan.alignment * (alike ? first.input_chunks : message_chunks(plan));
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  const auto last = std::min({plan.max_size, largest_message(plan), kMost});
  verdict.usable_counts = fmt::format(
      "{} buffers whose bytes are a multiple of {}; {}; messages from {} bytes to {} bytes",
      alike ? "input" : "whole", multiple, plan.in_place ? "in place" : "out of place",
      plan.min_size, last);
  verdict.usable =
      UsableSizes{.count_multiple = std::nullopt,
                  .bytes_multiple = multiple,
                  .min_bytes = static_cast<std::int64_t>(std::min(plan.min_size, kMost)),
                  .max_bytes = static_cast<std::int64_t>(last)};
}

}  // namespace forestcoll::audit
