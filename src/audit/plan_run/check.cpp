#include "audit/plan_run/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "audit/common/symbolic_memory.hpp"
#include "audit/plan/conditions.hpp"
#include "audit/plan/kinds.hpp"
#include "audit/plan_run/graph.hpp"
#include "audit/plan_run/packets.hpp"
#include "audit/plan_run/races.hpp"
#include "audit/plan_run/scratch.hpp"

namespace forestcoll::audit {
namespace {

constexpr std::int64_t kMaxAccesses = 100'000'000;  // of chunks, by all operations
constexpr std::int64_t kMaxPackets = 4'000'000;     // chunks of packets, likewise

bool moves_data(const PlanGraph::Node& node) {
  return node.kind == PlanGraph::Kind::data || node.kind == PlanGraph::Kind::effect;
}

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

class Execution {
 public:
  Execution(const PlanFile& plan, const PlanGraph& graph, const Program& program,
            const MemoryMap& memory, Findings& findings)
      : plan_(plan),
        graph_(graph),
        memory_(
            program, memory, [&graph](std::int32_t n) { return graph.place(n); }, findings) {}

  PlanRun run(std::span<const std::int32_t> order) {
    for (const std::int32_t n : order) {
      if (moves_data(graph_.nodes[static_cast<std::size_t>(n)])) perform(n);
    }
    run_.results = memory_.check_results();
    return std::move(run_);
  }

 private:
  void perform(std::int32_t n) {
    const PlanAccess access = access_of(plan_, graph_, n);
    const std::int32_t rank = graph_.nodes[static_cast<std::size_t>(n)].rank;
    memory_.begin(n, rank);
    const bool pairwise = traits_of(graph_.op(plan_, n).kind)->pairwise;
    for (std::int64_t strand = 0; strand < access.count; ++strand) {
      pairwise ? move(access, strand) : add(access, strand);
    }
    for (const PlanPart& chunk : access.reads) {
      if (chunk.rank != rank && !chunk.switched) {
        run_.transfers[{chunk.rank, rank}] += access.count;
      }
    }
    for (const PlanPart& chunk : access.writes) {
      if (chunk.rank != rank && !chunk.switched) {
        run_.transfers[{rank, chunk.rank}] += access.count;
      }
    }
    for (GroupAccess& through : group_accesses_of(access, rank)) {
      run_.group_accesses[std::move(through)] += access.count;
    }
  }

  static ChunkRef at(ChunkRef chunk, std::int64_t strand) {
    chunk.offset += strand;
    return chunk;
  }

  void move(const PlanAccess& access, std::int64_t strand) {
    for (std::size_t i = 0; i < access.reads.size(); ++i) {
      memory_.write(at(access.writes[i], strand), memory_.read(at(access.reads[i], strand)));
    }
  }

  void add(const PlanAccess& access, std::int64_t strand) {
    Content value = memory_.read(at(access.reads.front(), strand));
    for (std::size_t i = 1; i < access.reads.size(); ++i) {
      value = memory_.add(value, memory_.read(at(access.reads[i], strand)),
                          at(access.writes.front(), strand));
    }
    for (const PlanPart& chunk : access.writes) memory_.write(at(chunk, strand), value);
  }

  const PlanFile& plan_;
  const PlanGraph& graph_;
  SymbolicMemory memory_;
  PlanRun run_;
};

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
  check_plan_races(plan, graph, memory, order, findings);
  check_packet_reuse(plan, graph, memory, order, findings);
  check_double_scratch(plan, graph, memory, order, findings);
  return Execution(plan, graph, program, memory, findings).run(order);
}

std::string usable_sizes(const PlanFile& plan, Findings& findings) {
  if (plan.min_size > plan.max_size) {
    findings.add(Rule::never_selected, Place{},
                 fmt::format("min_message_size {} is above max_message_size {}", plan.min_size,
                             plan.max_size));
    return "none";
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
    return "none";
  }
  const PlanGpu& first = plan.gpus.front();
  const bool alike = std::ranges::all_of(plan.gpus, [&](const PlanGpu& gpu) {
    return gpu.input_chunks == first.input_chunks && gpu.output_chunks == first.output_chunks;
  });
  return fmt::format(
      "{} buffers whose bytes are a multiple of {}; {}; messages from {} bytes to {} bytes",
      alike ? "input" : "whole",
      plan.alignment * (alike ? first.input_chunks : message_chunks(plan)),
      plan.in_place ? "in place" : "out of place", plan.min_size,
      std::min(plan.max_size, largest_message(plan)));
}

}  // namespace forestcoll::audit
