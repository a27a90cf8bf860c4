#include "audit/execution/races.hpp"

#include <fmt/format.h>

#include "audit/plan_run/checks.hpp"

namespace forestcoll::audit {

Place place_of(const PlanGraph& graph, const MemoryMap& memory, std::int32_t node,
               const ChunkRef& chunk) {
  Place place = graph.place(node);
  place.chunk = memory.name(chunk.buffer, chunk.offset);
  if (chunk.rank != place.rank) place.chunk += fmt::format(" of rank {}", chunk.rank);
  return place;
}

void check_plan_races(const PlanFile& plan, const PlanGraph& graph, const Execution& execution,
                      const MemoryMap& memory, Findings& findings) {
  const Races found = find_races(execution, memory, findings);
  for (const Overlap& overlap : found.overlaps) {
    findings.add(
        Rule::race, place_of(graph, memory, overlap.operation, overlap.written),
        overlap.of_two_writes
            ? "two destinations of one operation overlap"
            : fmt::format("source and destination overlap, {} chunks apart", overlap.shift));
  }
  for (const Race& race : found.races) {
    findings.add(
        Rule::race, place_of(graph, memory, race.after, race.chunk),
        fmt::format("{} the chunk, and {} ({}) {} it; {} orders the two",
                    race.after_writes ? "writes" : "reads", to_string(graph.place(race.before)),
                    graph.op(plan, race.before).name, race.before_writes ? "writes" : "reads",
                    race.in_time ? "only a relaxed signal, which orders no data," : "nothing"),
        race.in_time
            ? kNotRelaxed
            : "put a nop between them in one threadblock, a signal and a wait between two");
  }
}

}  // namespace forestcoll::audit
