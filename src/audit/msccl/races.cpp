#include "audit/execution/races.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "audit/msccl/checks.hpp"

namespace forestcoll::audit {
namespace {

void report(const StepGraph& graph, const MemoryMap& memory, const Race& race, Findings& findings) {
  Place place = graph.place(race.after);
  place.chunk = memory.name(race.chunk.buffer, race.chunk.offset);
  findings.add(
      Rule::race, place,
      fmt::format("{} the chunk, and {} {} it; nothing orders the two{}",
                  race.after_writes ? "writes" : "reads", graph.name(race.before),
                  race.before_writes ? "writes" : "reads", memory.mode_text()),
      fmt::format("let one wait for the other, such as this step for threadblock {} step {}",
                  graph.block_of(race.before).id, graph.index(race.before)));
}

// Once for each two steps, by the first chunk.
void keep_one_of_two_steps(const StepGraph& graph, std::vector<Race>& races) {
  const auto steps = [&](const Race& race) {
    return std::tuple(graph.node(race.before).threadblock, race.after, race.before);
  };
  std::sort(races.begin(), races.end(), [&](const Race& a, const Race& b) {
    return std::tuple(steps(a), a.chunk.offset) < std::tuple(steps(b), b.chunk.offset);
  });
  const auto are_one = [&](const Race& a, const Race& b) { return steps(a) == steps(b); };
  races.erase(std::unique(races.begin(), races.end(), are_one), races.end());
}

}  // namespace

void check_races(const StepGraph& graph, const Execution& execution, const MemoryMap& memory,
                 Findings& findings) {
  Races found = find_races(execution, memory, findings);
  for (const Overlap& overlap : found.overlaps) {
    findings.add(Rule::race, graph.place(overlap.operation),
                 fmt::format("src and dst overlap, {} chunks apart{}: parts of the source are "
                             "overwritten before they are read",
                             overlap.shift, memory.mode_text()));
  }
  keep_one_of_two_steps(graph, found.races);
  for (const Race& race : found.races) report(graph, memory, race, findings);
}

}  // namespace forestcoll::audit
