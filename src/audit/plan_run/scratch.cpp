#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "audit/plan_run/checks.hpp"

namespace forestcoll::audit {
namespace {

struct Write {
  std::int32_t node = -1;
  bool by_own_threads = false;
};

void report(const PlanFile& plan, const PlanGraph& graph, const Place& place, const Write& last,
            Findings& findings) {
  constexpr std::string_view kFirstHalf = "the first", kSecondHalf = "the second";
  findings.add(
      Rule::undefined_read, place,
      fmt::format("use_double_scratch_buffer: in every second call reads {} half of the scratch, "
                  "but {} ({}) writes {}",
                  last.by_own_threads ? kFirstHalf : kSecondHalf, to_string(graph.place(last.node)),
                  graph.op(plan, last.node).name, last.by_own_threads ? kSecondHalf : kFirstHalf),
      "leave use_double_scratch_buffer out: packets apart, only a rank's own threads take the "
      "other half");
}

}  // namespace

void check_double_scratch(const PlanFile& plan, const PlanGraph& graph, const Execution& execution,
                          const MemoryMap& memory, Findings& findings) {
  if (!plan.doubles_scratch) return;
  std::vector<Write> last_write(memory.total());
  Access access;
  for (const std::int32_t n : execution.operations) {
    execution.access(n, access);
    const bool by_threads = graph.nodes[static_cast<std::size_t>(n)].kind == PlanGraph::Kind::data;
    const auto is_own = [&](const Operand& chunk) {
      return by_threads && access.rank == chunk.rank && !chunk.switched;
    };
    bool reported = false;
    for_each_chunk(access, access.reads, memory, [&](const Operand& chunk, std::size_t at, int) {
      const Write& last = last_write[at];
      if (chunk.buffer != Buffer::scratch || chunk.packets || last.node < 0) return;
      if (reported || last.by_own_threads == is_own(chunk)) return;
      report(plan, graph, place_of(graph, memory, n, chunk), last, findings);
      reported = true;
    });
    for_each_chunk(access, access.writes, memory, [&](const Operand& chunk, std::size_t at, int) {
      if (chunk.buffer != Buffer::scratch || chunk.packets) return;
      last_write[at] = {n, is_own(chunk)};
    });
  }
}

}  // namespace forestcoll::audit
