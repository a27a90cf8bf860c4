#include <fmt/format.h>

#include <vector>

#include "audit/plan_run/checks.hpp"

namespace forestcoll::audit {
namespace {

// An access that is to come after the beginning of its chunk's rank's call, or before the end.
struct Use {
  std::int32_t node = -1;
  ChunkRef chunk;
  bool writes = false, at_beginning = false;
};

// Once for successive chunks of a rank that a node accesses, by a write if there is one.
void add(const Use& use, std::vector<Use>& uses) {
  const bool is_more = !uses.empty() && uses.back().node == use.node &&
                       uses.back().chunk.rank == use.chunk.rank &&
                       uses.back().at_beginning == use.at_beginning;
  if (!is_more) {
    uses.push_back(use);
  } else if (use.writes && !uses.back().writes && !use.at_beginning) {
    uses.back() = use;
  }
}

std::vector<Use> collect_uses(const PlanGraph& graph, const Execution& execution) {
  std::vector<Use> uses;
  Access access;
  for (const std::int32_t n : execution.operations) {
    execution.access(n, access);
    const bool by_port = graph.nodes[static_cast<std::size_t>(n)].kind == PlanGraph::Kind::effect;
    const auto add_operand = [&](const Operand& chunk, bool writes) {
      if (chunk.packets) return;
      const bool away = chunk.rank != access.rank;
      if (away) add({n, chunk, writes, true}, uses);
      if (away || by_port) add({n, chunk, writes, false}, uses);
    };
    for (const Operand& chunk : access.reads) add_operand(chunk, false);
    for (const Operand& chunk : access.writes) add_operand(chunk, true);
  }
  return uses;
}

void report_early(const Use& use, const Place& place, Findings& findings) {
  findings.add(Rule::race, place,
               fmt::format("{} the chunk, and nothing shows that rank {} has begun its call",
                           use.writes ? "writes" : "reads", use.chunk.rank),
               "let that rank signal first that it is ready");
}

// `in_time`: relaxed signals order the two in time, but not their data.
void report_late(const Use& use, const Place& place, bool in_time, Findings& findings) {
  findings.add(Rule::race, place,
               fmt::format("{} the chunk, and {} keeps rank {} from ending its call before that",
                           use.writes ? "writes" : "reads",
                           in_time ? "only a relaxed signal, which orders no data," : "nothing",
                           use.chunk.rank),
               in_time ? kNotRelaxed : "let it wait for a signal that comes afterwards");
}

}  // namespace

void check_lifetimes(const PlanGraph& graph, const Execution& execution, const MemoryMap& memory,
                     Findings& findings) {
  const std::vector<Use> uses = collect_uses(graph, execution);
  std::vector<OrderQuery> early, late;
  for (const Use& use : uses) {
    const auto rank = static_cast<std::size_t>(use.chunk.rank);
    use.at_beginning ? early.push_back(execution.query(graph.start[rank], use.node))
                     : late.push_back(execution.query(use.node, graph.end[rank]));
  }
  const auto begun = happens_before(execution.in_time(), early);
  const auto over = happens_before(execution.events, late);
  const auto over_in_time = execution.relaxed ? happens_before(*execution.relaxed, late) : over;
  std::size_t e = 0, l = 0;
  for (const Use& use : uses) {
    const auto place = [&] { return place_of(graph, memory, use.node, use.chunk); };
    if (use.at_beginning) {
      if (!begun[e++]) report_early(use, place(), findings);
      continue;
    }
    const bool in_time = over_in_time[l], is_over = over[l++] || (in_time && !use.writes);
    if (!is_over) report_late(use, place(), in_time, findings);
  }
}

}  // namespace forestcoll::audit
