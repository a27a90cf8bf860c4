// A step of cnt chunks runs as ⌈cnt/m⌉ operations, where m falls from 71 to 1 as messages grow.
// All waits lie within one pass over the program, so the program never hangs exactly if one pass
// ends for every m. It is enough to run m = 1, every chunk an operation of its own: a circle of
// waits at some m is one at m = 1 as well. For let every operation of the circle stand for its last
// chunk. Program order leads from any chunk of an operation to its last one. A message of the last
// chunk is a wait between last chunks, and so is a flag. Where an operation waits for room, that is
// for operation i − D to be received before it sends operation i, the last chunk of operation i is
// at least D chunks after the last of operation i − D, so it waits for that one too.
//
// One operation in flight is the strictest case: what ends there ends with any number.
//
// What gets stuck at m = 1 may be meant for smaller messages: a call whose chunks have b bytes has
// m = ⌊B / b⌋, where B is what one operation holds with the runtime's default buffers. A file's
// window bounds b, so the m that calls can have are a range, and each of them is run. Nothing is
// concluded from one m about another here, as operations of one m need not end where those of
// another do.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "audit/msccl/checks.hpp"

namespace forestcoll::audit {
namespace {

constexpr std::size_t kNamed = 1'000;  // steps of a cycle that are spelt out

std::int64_t operations_in_flight(std::string_view protocol) {
  return protocol == "Simple" ? 2 : 8;
}

std::string name_wait(const StepGraph& graph, const Deadlock::Wait& wait) {
  const StepGraph::Node& node = graph.node(wait.step);
  const std::string self = graph.name(wait.step);
  switch (wait.cause) {
    case Deadlock::Wait::For::dependency:
      return fmt::format("{} waits for {} to end", self, graph.name(node.depends_on));
    case Deadlock::Wait::For::message:
      return fmt::format("{} waits for the message of {}", self, graph.name(node.message_from));
    case Deadlock::Wait::For::room:
      return fmt::format("{} waits for room on its connection to rank {}", self,
                         graph.block_of(node.message_to).rank);
  }
  return {};
}

void report(const StepGraph& graph, const Deadlock& deadlock, std::string_view when,
            std::string remedy, Findings& findings) {
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
  findings.add(Rule::deadlock, graph.place(cycle.front().step), std::move(text), std::move(remedy));
}

// The host gives broadcast and reduce one slot of the four that Simple otherwise fills at once.
std::int64_t operation_bytes(const Program& program, const TargetRules& target) {
  if (program.protocol == "LL") return target.ll_bytes;
  if (program.protocol == "LL128") return target.ll128_bytes;
  const bool by_slot = program.pattern == Pattern::broadcast || program.pattern == Pattern::reduce;
  return by_slot ? kSimpleBytes / 4 : kSimpleBytes;
}

// Chunks per operation, by the size of the buffer.
class Splitting {
 public:
  Splitting(const StepGraph& graph, const Program& program, const TargetRules& target)
      : chunks_(program.chunks), bytes_(operation_bytes(program, target)) {
    for (const StepGraph::Node& node : graph.steps) whole_ = std::max(whole_, node.step->count);
    const ChunkBytes window = chunk_bytes(program, target);
    const bool is_empty = window.most < window.least;  // nothing to judge by: any size
    fewest_ = is_empty ? 1 : of(window.most);
    most_ = is_empty ? whole_ : std::min(of(window.least), std::max(whole_, fewest_));
  }

  [[nodiscard]] std::int32_t fewest() const { return fewest_; }  ///< in the window
  [[nodiscard]] std::int32_t most() const { return most_; }
  /// With so many, no step is split.
  [[nodiscard]] bool is_whole(std::int32_t m) const { return m >= whole_; }
  /// The largest buffer whose operations have so many chunks, or more.
  [[nodiscard]] std::int64_t largest_buffer(std::int32_t m) const { return bytes_ / m * chunks_; }

 private:
  [[nodiscard]] std::int32_t of(std::int64_t bytes_of_chunk) const {
    return static_cast<std::int32_t>(
        std::clamp<std::int64_t>(bytes_ / bytes_of_chunk, 1, kMaxCount));
  }

  std::int64_t chunks_, bytes_;
  std::int32_t whole_ = 1;
  std::int32_t fewest_ = 1, most_ = 1;
};

// With m chunks per operation, the first m that gets stuck.
std::string when(const Splitting& splitting, std::int32_t m, std::int64_t depth) {
  if (splitting.is_whole(m)) return "at every message size";
  if (m == 1) {
    return fmt::format(
        "once messages are large enough for every chunk to be an operation of its own, {} of them "
        "in flight",
        depth);
  }
  return fmt::format("once messages are large enough for operations of {} chunks, {} in flight", m,
                     depth);
}

std::string remedy(const Splitting& splitting, std::int32_t m) {
  if (m == splitting.most()) return {};
  return fmt::format("lower maxBytes to {}, up to which it is free of deadlock",
                     splitting.largest_buffer(m + 1));
}

}  // namespace

DeadlockVerdict check_deadlock(const StepGraph& graph, const Program& program,
                               const TargetRules& target, Findings& findings) {
  if (!find_deadlock(graph, 1, 1)) return {.free_at_one_in_flight = true, .safe_bytes = {}};
  const std::int64_t depth = operations_in_flight(program.protocol);
  if (!find_deadlock(graph, 1, depth)) return {};
  // Some size gets stuck. Does the window hold it? From small messages to large ones.
  const Splitting splitting(graph, program, target);
  for (std::int32_t m = splitting.most(); m >= 1; --m) {
    const auto stuck = find_deadlock(graph, m, depth);
    if (!stuck) continue;
    if (m < splitting.fewest()) {
      return {.free_at_one_in_flight = false, .safe_bytes = splitting.largest_buffer(m + 1)};
    }
    report(graph, *stuck, when(splitting, m, depth), remedy(splitting, m), findings);
    return {};
  }
  return {};
}

}  // namespace forestcoll::audit
