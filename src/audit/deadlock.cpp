// A step of cnt chunks runs as ⌈cnt/m⌉ operations, where m falls from 71 to 1 as messages grow.
// All waits lie within one pass over the program, so the program never hangs exactly if one pass
// ends for every m. It is enough to run m = 1, every chunk an operation of its own: a circle of
// waits at some m is one at m = 1 as well. For let every operation of the circle stand for its last
// chunk. Program order leads from any chunk of an operation to its last one. A message of the last
// chunk is a wait between last chunks, and so is a flag. Where an operation waits for room, that is
// for operation i − D to be received before it sends operation i, the last chunk of operation i is
// at least D chunks after the last of operation i − D, so it waits for that one too.
//
// One operation in flight is the strictest case: what ends there ends with any number. A run with
// m = 71, no step split, that gets stuck does so at every size.
#include "audit/deadlock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "audit/target_rules.hpp"

namespace forestcoll::audit {
namespace {

constexpr std::size_t kNamed = 1'000;  // steps of a cycle that are spelt out

std::int64_t operations_in_flight(std::string_view protocol) {
  return protocol == "Simple" ? 2 : 8;
}

std::string name_wait(const StepGraph& graph, const Deadlock::Wait& wait) {
  Place place = graph.place(wait.step);
  place.line = 0;
  const StepGraph::Node& node = graph.node(wait.step);
  const auto name = [&](std::int32_t step) {
    Place other = graph.place(step);
    other.line = 0;
    return to_string(other);
  };
  switch (wait.cause) {
    case Deadlock::Wait::For::dependency:
      return fmt::format("{} waits for {} to end", to_string(place), name(node.depends_on));
    case Deadlock::Wait::For::message:
      return fmt::format("{} waits for the message of {}", to_string(place),
                         name(node.message_from));
    case Deadlock::Wait::For::room:
      return fmt::format("{} waits for room on its connection to rank {}", to_string(place),
                         graph.block_of(node.message_to).rank);
  }
  return {};
}

void report(const StepGraph& graph, const Deadlock& deadlock, std::string_view when,
            Findings& findings) {
  // Told from its smallest step, so that the report does not depend on who got stuck first.
  const auto smallest =
      std::min_element(deadlock.cycle.begin(), deadlock.cycle.end(),
                       [](const auto& a, const auto& b) { return a.step < b.step; });
  std::vector<Deadlock::Wait> cycle(smallest, deadlock.cycle.end());
  cycle.insert(cycle.end(), deadlock.cycle.begin(), smallest);
  std::string text = fmt::format("deadlock {}: ", when);
  for (std::size_t i = 0; i < std::min(cycle.size(), kNamed); ++i) {
    text += fmt::format("{}{}", i > 0 ? "; " : "", name_wait(graph, cycle[i]));
  }
  if (cycle.size() > kNamed) text += fmt::format("; … {} more", cycle.size() - kNamed);
  findings.add(Code::deadlock, graph.place(cycle.front().step), std::move(text));
}

}  // namespace

bool check_deadlock(const StepGraph& graph, std::string_view protocol, Findings& findings) {
  if (!run_waits(graph, 1, 1)) return true;
  const std::int64_t depth = operations_in_flight(protocol);
  if (const auto always = run_waits(graph, kMaxCount, depth)) {
    report(graph, *always, "at every message size", findings);
  } else if (const auto split = run_waits(graph, 1, depth)) {
    report(graph, *split,
           fmt::format("once messages are large enough for every chunk to be an operation of its "
                       "own, {} of them in flight",
                       depth),
           findings);
  }
  return false;
}

}  // namespace forestcoll::audit
